"""The simulated caller: scripted or played by a model."""

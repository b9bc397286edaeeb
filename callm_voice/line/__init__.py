"""The simulated phone line: profile, degradation, the 20 ms tick."""

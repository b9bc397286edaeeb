"""TTS, STT, VAD and endpointing engines, and the spoken form of text."""

"""PCM, levels, resampling, codecs and sound files."""

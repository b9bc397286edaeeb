"""Model specs, the streaming client and its delta parser, the embedded and the oracle server."""

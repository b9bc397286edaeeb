"""The static site: pages that need no server, make no request off the folder and hold no text that is not escaped."""

"""CALLM Voice: a benchmark of the language models behind a phone front desk, by real speech over a real line."""

__version__ = "0.1.0"

"""`callm-voice`: the entry point. It imports next to nothing, so that Ctrl-C is one line from the first moment on."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""128 and SIGINT's number, as a shell says it."""


def run() -> None:
    """Exit codes: 0 ok, 1 a bar or check failed, 2 usage, 3 environment, 130 interrupted."""
    try:
        from callm_voice.cli.commands import main  # takes a second on a slow machine

        main()
    except KeyboardInterrupt:
        sys.stderr.write("callm-voice: interrupted; what was unfinished is redone next time\n")
        sys.exit(INTERRUPTED)

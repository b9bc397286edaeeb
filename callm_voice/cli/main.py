"""`callm-voice`: the entry point. It imports next to nothing, so that Ctrl-C is one line from the first moment on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

INTERRUPTED = 130
"""128 and SIGINT's number, as a shell says it."""
AGAIN_S = 0.01


def run() -> None:
    """Exit codes: 0 ok, 1 a bar or check failed, 2 usage, 3 environment, 130 interrupted."""
    sys.unraisablehook = _unraisable
    try:
        from callm_voice.cli.commands import main  # takes a second on a slow machine

        main()
    except KeyboardInterrupt:
        sys.stderr.write("callm-voice: interrupted; what was unfinished is redone next time\n")
        sys.exit(INTERRUPTED)


def _unraisable(what: Any) -> None:
    """A Ctrl-C that met a finaliser or a callback of a weak reference, where nothing can be raised, comes once more:
    the interpreter would print it and go on. Imports run such callbacks all the time."""
    if what.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(what)
        return
    again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()

"""The verifier: three deterministic gates over a finished call. Needs pydantic alone.

trace.py    what a call did: tool calls, handoffs, final state   (open to everyone)
verdict.py  what the gates said                                  (open to everyone)
gold.py     what a task expects                                  (bench, report and cli only)
"""

VERIFIER_VERSION = "1.0.0"

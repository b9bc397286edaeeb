"""Calls whose every text tries to be something else than text. Written by nobody, in no language."""

from __future__ import annotations

from support.run_builder import MadeCall, make_record

SCRIPT = "<script>window.pwned = 1</script>"
IMAGE = "<img src=x onerror='window.pwned = 2'>"
CLOSING = "</script><script>window.pwned = 3</script><!--"
TEMPLATE = "{{ 7 * 7 }} {% raw %} ${7*7} %s {0}"
MODEL = f"evil{IMAGE}&\"'/../..#x?y"
UNICODE = "".join(
    [
        "Ünïcode ", "日本語の長い文 ", "עברית ", "\u202egnirts desrever\u202c ",
        "👩‍👩‍👧‍👦🏳️‍🌈 ", "e" + "\u0301" * 40 + " ",
        "\u2028\u2029 ", "\x00\x1b[31m\x07 ", "a" * 300 + " ",
    ]
)  # fmt: skip
LONG = (UNICODE * 40)[:10_240]
"""Ten thousand characters of it."""
ALL = (SCRIPT, IMAGE, CLOSING, TEMPLATE)


def hostile_calls() -> tuple[MadeCall, ...]:
    """One that failed: text of the caller's, the recogniser's, the model's and the tools' in every place."""
    plain, _, _ = make_record(MadeCall(plot="wrong_argument"))
    transcript = [
        turn.model_copy(
            update={
                "said": f"{SCRIPT} {turn.said} {CLOSING}",
                "heard": None if turn.heard is None else f"{IMAGE} {turn.heard} {TEMPLATE}",
                "played": None if turn.played is None else f"{SCRIPT} {LONG if n == 0 else CLOSING}",
                "role": None if turn.role is None else f"role{IMAGE}",
            }
        )
        for n, turn in enumerate(plain.transcript)
    ]
    transcript.append(plain.transcript[1].model_copy(update={"said": LONG, "heard": LONG[::-1], "start_ms": 19_000}))
    calls = [
        call.model_copy(
            update={
                "args": {**call.args, f"key{IMAGE}": [SCRIPT, {CLOSING: LONG}]},
                "output": {**call.output, SCRIPT: CLOSING, "long": LONG},
            }
        )
        for call in plain.trace.calls
    ]
    calls.append(calls[-1].model_copy(update={"call_id": "x", "name": f"tool{SCRIPT}", "ok": False, "error": CLOSING}))
    handoffs = [h.model_copy(update={"to_role": f"{h.to_role}{IMAGE}"}) for h in plain.trace.handoffs]
    changes = {
        "transcript": tuple(transcript),
        "trace": plain.trace.model_copy(update={"calls": tuple(calls), "handoffs": tuple(handoffs)}),
        "warnings": (SCRIPT, CLOSING),
        "outcome": plain.outcome.model_copy(update={"detail": SCRIPT}),
    }
    return (MadeCall(task="demo/C1-E1", model=MODEL, trial=1, plot="wrong_argument", changes=changes),)

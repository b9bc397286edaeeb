"""A small invented errand: a balance is asked for, then a visit is moved."""

from __future__ import annotations

from typing import Any

from callm_voice.core.brief import Brief

TRAITS = {"full_name": "Nora Quill", "date_of_birth": "1980-02-09", "mobile": "212-555-0100", "zip": "10001"}


def small_brief(**changes: Any) -> Brief:
    """The brief, with some of its keys replaced."""
    data: dict[str, Any] = {
        "traits": TRAITS,
        "script": "Ask what you owe. Only when you know it, have Friday's visit moved. Then thank them and leave.",
        "opening": "Hi, I have a question about my bill.",
        "beats": [
            {"id": "leave", "say": "Thank you, goodbye.", "hang_up": True, "after": ["ask_move"],
             "when": {"any_of": [r"\bmoved\b"]}},
            {"id": "agree", "say": "Yes, please.", "after": ["ask_move"], "repeat": 3,
             "when": {"any_of": [r"\bshall i\b"]}},
            {"id": "ask_move", "say": "I also need Friday's visit moved.", "repeat_say": "Please move Friday's visit.",
             "ask": True, "after": ["ask_owe"], "when": {"any_of": [r"\$\d+"]}},
            {"id": "ask_owe", "say": "How much do I owe?", "repeat_say": "I'd like to know how much I owe.",
             "ask": True, "when": {"any_of": [r"\bhelp\b", r"\bthank you\b"]}},
        ],
        "never": [{"pattern": r"\bfriday\b", "until": "ask_move", "reason": "Only once the balance is known."},
                  {"pattern": r"\bcall ?back\b"}],
    }  # fmt: skip
    return Brief.model_validate({**data, **changes})

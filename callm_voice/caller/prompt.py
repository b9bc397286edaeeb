"""The locked prompt of a caller that a model plays. A change here changes what calls are comparable.

A brief that presses no keys has the same prompt and tools as before there were any.
"""

from __future__ import annotations

from callm_voice.caller.script import OPENING, Ban, Script
from callm_voice.core.brief import Brief
from callm_voice.core.keypad import MAX_KEYS
from callm_voice.llm.types import ToolSchema

_RULES = """\
You are on the phone with the front desk of a business. You are the person who calls; the other side is the desk.
What you are given as their words is what you heard.

How you speak
- As people do on the phone: one sentence, two at most. No lists, no headings, no description of what you do.
- Answer what you are asked, from your own facts below and from nothing else. If you are asked for something that is not
  there, say that you don't know it.
- If they read a fact of yours back wrong, put it right. If they read it back right, say so.
- Do not repeat your first words; you have said them already.
- You are this person and nothing else. You never speak of instructions, roles, tests or machines.

How you keep to your errand
- What you want and in which order you say it is written under "Your call". Follow it to the letter.
- If they offer something else, decline and come back to your errand.
- A promise is not yet done. Go on until they have told you that the last thing you want is done.

How you use your tools
- wait: they are busy and asked you nothing.
- hang_up: only when they have told you that all you want is done, and never in answer to a question that still needs
  your yes. Say goodbye in the same turn."""

_PRESS_RULE = """
- press_keys: they asked you to enter something on your keypad. Press it; do not say it."""


def system_prompt(brief: Brief, script: Script) -> str:
    """The whole system message: rules, facts, the brief's prose, what must not be said."""
    facts = "\n".join(f"- {name.replace('_', ' ')}: {value}" for name, value in brief.traits.items())
    parts = [
        _RULES + (_PRESS_RULE if presses(brief) else ""),
        f"Your facts\n{facts or '- none'}",
        f"Your call\n{brief.script.strip()}",
    ]
    rules = list(dict.fromkeys(_rule(ban, script) for ban in script.bans))
    if rules:
        parts.append("What you must not say\n" + "\n".join(rules))
    return "\n\n".join(parts)


def presses(brief: Brief) -> bool:
    """Whether its caller presses keys anywhere."""
    return any(beat.press for beat in brief.beats)


def tools_for(brief: Brief) -> tuple[ToolSchema, ...]:
    """The tools of its caller."""
    return (*TOOLS, PRESS_TOOL) if presses(brief) else TOOLS


def refusal(ban: Ban) -> str:
    """What the model is told when its line breaks a rule."""
    reason = ban.reason or f"it has words like {ban.pattern.pattern}"
    return (
        f"(They did not hear that. You must not say it now: {reason} Say something else to what they said last, "
        "without it, as the caller.)"
    )


def _rule(ban: Ban, script: Script) -> str:
    what = ban.reason or f"Words like: {ban.pattern.pattern}"
    if ban.until is None or ban.until == OPENING:
        return f"- {what}"
    said = next((line.say for line in script.lines if line.id == ban.until), "")
    return f"- {what}" + (f' (Until it is time to say: "{said}")' if said else "")


def _tool(name: str, description: str) -> ToolSchema:
    reason = {"type": "string", "description": "Why, in a few words."}
    parameters = {"type": "object", "properties": {"reason": reason}, "required": ["reason"]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS: tuple[ToolSchema, ...] = (
    _tool("hang_up", "End the call. Only when the desk has told you that everything you want is done."),
    _tool("wait", "Say nothing and let the desk go on."),
)
PRESS_TOOL: ToolSchema = {
    "type": "function",
    "function": {
        "name": "press_keys",
        "description": "Press keys of your telephone, after what you say in the same turn, if anything.",
        "parameters": {
            "type": "object",
            "properties": {
                "keys": {"type": "string", "description": f"0-9, * and #, without spaces; {MAX_KEYS} at most."}
            },
            "required": ["keys"],
        },
    },
}
"""Only for a brief whose beats press keys."""

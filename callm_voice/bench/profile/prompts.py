"""Prompts as a desk sends them, of a wanted number of tokens: prose of our own and real tools of a pack.

A cold prompt has a nonce at the start of its system prompt and of its first tool's description, because some chat
templates put the tools in front: no prefix cache can have either.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from callm_voice.bench.profile.prose import PARAGRAPHS, prose
from callm_voice.core.ids import derive_seed, short_hash
from callm_voice.core.latency_profile import PromptScale
from callm_voice.desk.pack import Pack
from callm_voice.llm.types import ChatRequest, Message, ToolSchema

TOOL_SHARE = 0.4
"""At most this part of a prompt is tools; in the packs it is about a third."""
RULE_OF_THUMB = PromptScale(base_tokens=40, tokens_per_prose_char=1 / 4.5, tokens_per_tool_char=1 / 4.0, measured=False)

HELLO = "Hello, I am calling about an appointment that I made last month."
ANSWER = "Thank you for calling. What would you like to know about that appointment?"
NEXT_LINES = (
    "It was on a Tuesday, I think, at nine in the morning.",
    "I do not have the letter here, I only remember the day.",
    "Could I come a little later on that day?",
    "My sister made it for me, so I am not sure about the time.",
    "Is it the doctor on the second floor?",
    "And how long will it take, more or less?",
)
LOOK_UP = "Could you look up what is written under my telephone number?"
FOUND = "I have found it: Tuesday at nine, with the doctor on the second floor. Is there anything else?"
ASK_BILL = "Yes, I also have a question about my last bill."
BILLING = "This is billing. Which charge is your question about?"
TOOL, TRANSFER = "get_patient_summary", "transfer_to_billing"
_TOOL_RESULT = {
    "data": {"patient_id": "P-1042", "next_visit": {"day": "2026-08-25", "time": "09:00", "room": "2.04"}},
    "error_code": None,
    "ok": True,
    "patient_safe_message": None,
}


def oracle_script() -> list[dict[str, object]]:
    """A dialogue in which the oracle has an answer to every request of a profile."""
    return [
        {"say": ANSWER},
        {"hear": {"any_of": [LOOK_UP.rstrip("?")]}, "else": ANSWER},
        {"call": TOOL, "args": {}},
        {"say": FOUND},
        {"hear": {"any_of": [ASK_BILL]}, "else": FOUND},
        {"call": TRANSFER, "args": {}},
        {"say": BILLING},
    ]


@dataclass(frozen=True)
class PromptMaker:
    """Builds requests. The same arguments give the same bytes.

    Args:
        tools: of the first role, and of the role after a handoff.
        salt: differs from run to run.
    """

    tools: tuple[ToolSchema, ...]
    tools_after_handoff: tuple[ToolSchema, ...]
    scale: PromptScale
    seed: int
    salt: str
    answer_tokens: int

    def cold(self, tokens: int, key: str, *, role: str) -> ChatRequest:
        """A prompt nobody has read: system prompt, tools, the caller's first words."""
        return self._request(tokens, key, self.tools, [_user(HELLO)], role)

    def warm(self, tokens: int, key: str, turn: int, *, role: str) -> ChatRequest:
        """The prompt of `cold` with the same key, and one more line of the caller's."""
        words = NEXT_LINES[turn % len(NEXT_LINES)]
        return self._request(tokens, key, self.tools, [_user(HELLO), _said(ANSWER), _user(words)], role)

    def tool_result(self, tokens: int, key: str, *, role: str) -> ChatRequest:
        """The prompt of `cold` with the same key, a tool call in it and its result at the end."""
        return self._request(tokens, key, self.tools, _after_tool(), role)

    def next_role(self, tokens: int, key: str, *, role: str) -> ChatRequest:
        """The prompt and the tools of the role after a handoff, before anybody was handed over."""
        return self._request(tokens, key, self.tools_after_handoff, [_user(HELLO)], role)

    def handoff(self, tokens: int, key: str, *, role: str) -> ChatRequest:
        """The prompt of `next_role` with the same key; the history of the call comes with it."""
        history = [*_after_tool(), _said(FOUND), _user(ASK_BILL), *_called(TRANSFER, {"success": True, "role": "x"})]
        return self._request(tokens, key, self.tools_after_handoff, history, role)

    def plain(self, prose_chars: int, tools: Sequence[ToolSchema], key: str, *, role: str) -> ChatRequest:
        """So much prose and these tools: what the scale is measured with."""
        system = _system(prose(prose_chars, self._order(key)), self._nonce(key))
        return ChatRequest([system, _user(HELLO)], tools, role=role, max_tokens=self.answer_tokens)

    def _request(
        self, tokens: int, key: str, tools: Sequence[ToolSchema], history: list[Message], role: str
    ) -> ChatRequest:
        chosen, left = self._fitting(tools, tokens)
        nonce = self._nonce(key)
        chars = max(80, round(left / self.scale.tokens_per_prose_char))
        system = _system(prose(chars, self._order(key)), nonce)
        return ChatRequest(
            [system, *history], _marked(chosen, nonce), role=role, max_tokens=self.answer_tokens
        )  # fmt: skip

    def _fitting(self, tools: Sequence[ToolSchema], tokens: int) -> tuple[list[ToolSchema], float]:
        """The first tools that fit into their share, and the tokens that are left for prose."""
        chosen: list[ToolSchema] = []
        spent = self.scale.tool_base_tokens
        for tool in tools:
            cost = tool_chars([tool]) * self.scale.tokens_per_tool_char
            if spent + cost > TOOL_SHARE * tokens:
                break
            chosen.append(tool)
            spent += cost
        return chosen, tokens - (spent if chosen else 0.0) - self.scale.base_tokens

    def _nonce(self, key: str) -> str:
        return short_hash(f"{self.salt}|{self.seed}|{key}".encode())

    def _order(self, key: str) -> tuple[int, ...]:
        order = list(range(len(PARAGRAPHS)))
        random.Random(derive_seed(self.seed, "profile", key)).shuffle(order)
        return tuple(order)


def tools_of(pack: Pack) -> tuple[tuple[ToolSchema, ...], tuple[ToolSchema, ...]]:
    """All tools of a pack, once each: the start role's first, and the other way round for the role after a handoff."""
    found: dict[str, ToolSchema] = {}
    start = pack.file.start_role
    for name in (start, *(n for n in sorted(pack.roles) if n != start)):
        for schema in pack.roles[name].tool_schemas:
            found.setdefault(schema["function"]["name"], schema)
    tools = tuple(found.values())
    return tools, tools[::-1]


def tool_chars(tools: Sequence[ToolSchema]) -> int:
    """Characters of their JSON."""
    return len(json.dumps(list(tools), ensure_ascii=False))


def scale_from(
    short: int, long: int, few_tools: int, many_tools: int, *, chars: tuple[int, int], tool_chars: tuple[int, int]
) -> PromptScale:
    """Solve for the scale from the prompt tokens of four requests.

    Args:
        short, long: prompt tokens of two prompts without tools, of `chars` characters of prose.
        few_tools, many_tools: of the short one with `tool_chars` characters of tools.
    """
    per_prose = (long - short) / (chars[1] - chars[0])
    per_tool = (many_tools - few_tools) / (tool_chars[1] - tool_chars[0])
    if not (0.05 < per_prose < 2 and 0.02 < per_tool < 2):
        return RULE_OF_THUMB
    return PromptScale(
        base_tokens=max(0.0, short - per_prose * chars[0]),
        tokens_per_prose_char=per_prose,
        tokens_per_tool_char=per_tool,
        tool_base_tokens=max(0.0, few_tools - short - per_tool * tool_chars[0]),
        measured=True,
    )


def _system(text: str, nonce: str) -> Message:
    return {"role": "system", "content": f"[{nonce}] Answer in one or two short spoken sentences.\n\n{text}"}


def _marked(tools: Sequence[ToolSchema], nonce: str) -> list[ToolSchema]:
    """The tools, the nonce in front of the first one's description."""
    marked = copy.deepcopy(list(tools))
    if marked:
        marked[0]["function"]["description"] = f"[{nonce}] {marked[0]['function'].get('description', '')}"
    return marked


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _called(name: str, result: dict[str, object]) -> list[Message]:
    """A tool call and its result."""
    call_id = f"call_{short_hash(name.encode(), 8)}"
    entry = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [entry]},
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps(result, ensure_ascii=False)},
    ]


def _after_tool() -> list[Message]:
    return [_user(HELLO), _said(ANSWER), _user(LOOK_UP), *_called(TOOL, dict(_TOOL_RESULT))]

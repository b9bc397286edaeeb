"""What a profile asks, in which order. Every round asks everything once, so that a drift touches all alike."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callm_voice.bench.profile.prompts import PromptMaker
from callm_voice.core.ids import derive_seed
from callm_voice.core.latency_profile import Kind
from callm_voice.llm.types import ChatRequest

DESK_TOKENS = 4000
"""A desk's prompt with its tools and half a call's history is about so long; the headline is measured at the largest
size up to it."""
WARM_TURNS = 3
"""Caller turns of each round at the desk's size."""
ANSWER_ROOM = 384
"""Tokens that the history of the longest probe adds to a prompt, and the error of its estimate."""
OVERHEAD_TOKENS = 300
"""What one request costs besides its new prompt tokens, in tokens of prompt, for the estimate of the time left."""
WARM_NEW_TOKENS = 100


def slot(number: int) -> str:
    """The role under which a request is sent; an embedded model keeps a slot for each."""
    return f"profile-{number}"


@dataclass(frozen=True)
class Step:
    """Requests that are sent together, after some that are not measured."""

    kind: Kind
    tokens: int
    key: str
    turn: int = 0
    concurrency: int = 1

    def prepare(self, maker: PromptMaker, *, read: str) -> Iterator[ChatRequest]:
        """What the server must have read before: sent one by one, not measured.

        Args:
            read: key of the cold prompt that was read last. A turn that goes on from another one (because that failed)
                has its prompt read first.
        """
        if self.kind in ("warm", "tool_result") and read != self.key:
            yield maker.cold(self.tokens, self.key, role=slot(0))
        elif self.kind == "handoff_warm":
            yield maker.next_role(self.tokens, self.key, role=slot(1))
        elif self.kind == "concurrent":
            for number in range(self.concurrency):
                yield maker.cold(self.tokens, f"caller {number}", role=slot(number))

    def requests(self, maker: PromptMaker) -> list[ChatRequest]:
        """The measured ones."""
        match self.kind:
            case "cold":
                return [maker.cold(self.tokens, self.key, role=slot(0))]
            case "warm":
                return [maker.warm(self.tokens, self.key, self.turn, role=slot(0))]
            case "tool_result":
                return [maker.tool_result(self.tokens, self.key, role=slot(0))]
            case "handoff_cold" | "handoff_warm":
                return [maker.handoff(self.tokens, self.key, role=slot(1))]
            case "concurrent":
                return [
                    maker.warm(self.tokens, f"caller {number}", self.turn, role=slot(number))
                    for number in range(self.concurrency)
                ]

    def work(self, *, first_round: bool) -> float:
        """How much it is, in tokens of prompt."""
        new = self.tokens if self.kind in ("cold", "handoff_cold") else WARM_NEW_TOKENS
        if self.kind == "handoff_warm" or (self.kind == "concurrent" and first_round):
            new += self.tokens
        return self.concurrency * (new + OVERHEAD_TOKENS)


def desk_size(sizes: Sequence[int]) -> int:
    """The size of everything that is not a sweep over sizes."""
    return max((size for size in sizes if size <= DESK_TOKENS), default=min(sizes))


def round_steps(number: int, sizes: Sequence[int], levels: Sequence[int], seed: int) -> list[Step]:
    """The steps of one round (from 1): blocks in an order drawn for this round, steps in a block in their order."""
    desk = desk_size(sizes)
    blocks: list[list[Step]] = []
    for size in sizes:
        key = f"round {number} size {size}"
        turns = WARM_TURNS if size == desk else 1
        block = [Step("cold", size, key)]
        block += [Step("warm", size, key, turn=turn) for turn in range(turns)]
        if size == desk:
            block.append(Step("tool_result", size, key))
        blocks.append(block)
    blocks.append(
        [
            Step("handoff_cold", desk, f"round {number} handoff cold"),
            Step("handoff_warm", desk, f"round {number} handoff warm"),
        ]
    )
    blocks += [[Step("concurrent", desk, "", turn=number, concurrency=level)] for level in levels]
    random.Random(derive_seed(seed, "profile order", number)).shuffle(blocks)
    return [step for block in blocks for step in block]


def capped(sizes: Sequence[int], limit: int | None) -> tuple[int, ...]:
    """Ascending, each once, none over the limit; what is over it is measured at the limit."""
    return tuple(sorted({size if limit is None else min(size, limit) for size in sizes}))

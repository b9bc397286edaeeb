"""Profile one model: open it, learn how text becomes tokens there, ask in rounds, write what was measured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from callm_voice import __version__
from callm_voice.bench.assemble import host
from callm_voice.bench.desk import model_info
from callm_voice.bench.profile.measure import Exchange, exchange
from callm_voice.bench.profile.plan import ANSWER_ROOM, Step, capped, round_steps, slot
from callm_voice.bench.profile.progress import Progress
from callm_voice.bench.profile.prompts import (
    RULE_OF_THUMB,
    PromptMaker,
    oracle_script,
    scale_from,
    tool_chars,
    tools_of,
)
from callm_voice.bench.profile.summary import summarise
from callm_voice.core import paths
from callm_voice.core.clock import Clock, RealClock, utc_stamp
from callm_voice.core.errors import ModelError, UsageError
from callm_voice.core.ids import short_hash
from callm_voice.core.latency_profile import MEASUREMENTS_FILE, PROFILE_FILE, LatencyProfile, Measurement, PromptScale
from callm_voice.core.runfolder import disk_errors, safe_name
from callm_voice.desk.pack import load_pack
from callm_voice.llm.factory import open_model
from callm_voice.llm.spec import EmbeddedSpec, NamedSpec, OracleSpec
from callm_voice.llm.types import ChatModel, ChatRequest, ToolSchema

PACK = "healthcare"
"""Whose tools stand in the prompts."""
ANSWER_TOKENS = 128
THINKING_ANSWER_TOKENS = 2048
"""For a model that thinks: its thoughts count as answer tokens at most servers."""
PREPARE_TOKENS = 16
"""Answer tokens of a request that is only to be read."""
SCALE_CHARS = (800, 2600)
SCALE_TOOLS = (2, 8)


@dataclass(frozen=True)
class ProfilePlan:
    """What is asked of which model."""

    model: NamedSpec
    sizes: tuple[int, ...]
    """Prompt tokens."""
    concurrency: tuple[int, ...]
    repeats: int
    seed: int
    max_tokens: int | None
    """The longest prompt. None: the model's context where we know it."""
    out: Path | None
    """None: `runs/profiles/NAME-STAMP`."""


def run_profile(plan: ProfilePlan, on_progress: Callable[[str], None]) -> tuple[LatencyProfile, Path]:
    """Measure; the profile and the folder that holds `profile.json` and `measurements.jsonl`.

    An interrupted run leaves the measurements that it had.

    Raises:
        UsageError: the folder already holds a profile.
        SetupError, ModelError: the model cannot be opened, or no request at all was answered.
    """
    clock = RealClock()
    try:
        folder = _folder(plan, clock.unix_s())
        on_progress(f"measurements go to {folder / MEASUREMENTS_FILE}")
        return asyncio.run(measure_profile(plan, folder, clock, on_progress)), folder
    finally:
        clock.close()


async def measure_profile(
    plan: ProfilePlan, folder: Path, clock: Clock, on_progress: Callable[[str], None]
) -> LatencyProfile:
    """`run_profile` inside a running loop, into a folder that is there."""
    return await _Run(plan, folder, clock, on_progress).all()


def _folder(plan: ProfilePlan, unix_s: float) -> Path:
    stamp = utc_stamp(unix_s).replace("-", "").replace(":", "")
    folder = plan.out or Path("runs/profiles") / f"{safe_name(plan.model.name)}-{stamp}"
    if any((folder / name).exists() for name in (PROFILE_FILE, MEASUREMENTS_FILE)):
        raise UsageError(f"--out: {folder} already holds a profile", hint="name another folder")
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Run:
    """One profile in the making."""

    def __init__(self, plan: ProfilePlan, folder: Path, clock: Clock, on_progress: Callable[[str], None]) -> None:
        self._plan, self._folder, self._clock, self._say = plan, folder, clock, on_progress
        self._began_s, self._began_unix_s = clock.now_s(), clock.unix_s()
        self._salt = short_hash(f"{plan.model.name}|{self._began_unix_s}".encode())
        self._scripted = isinstance(plan.model.spec, OracleSpec)
        self._measurements: list[Measurement] = []
        self._last_error: ModelError | None = None
        self._notes: list[str] = []
        self._read_key = ""
        """Of the cold prompt that the model read last."""

    async def all(self) -> LatencyProfile:
        plan = self._plan
        tools, tools_after = tools_of(load_pack(paths.find("packs", PACK)))
        async with AsyncExitStack() as stack:
            model = await self._open(stack)
            scale, answer_tokens = await self._learn(model, tools)
            maker = PromptMaker(tools, tools_after, scale, plan.seed, self._salt, answer_tokens)
            sizes = self._sizes(answer_tokens)
            file = self._folder / MEASUREMENTS_FILE
            with disk_errors(file):
                out = stack.enter_context(closing(file.open("w", encoding="utf-8")))
            progress = Progress(plan.repeats, self._clock, self._say)
            progress.begin([round_steps(n, sizes, plan.concurrency, plan.seed) for n in range(1, plan.repeats + 1)])
            for number in range(1, plan.repeats + 1):
                for step in round_steps(number, sizes, plan.concurrency, plan.seed):
                    for m in await self._step(model, maker, step, number):
                        self._measurements.append(m)
                        with disk_errors(file):
                            out.write(m.model_dump_json() + "\n")
                            out.flush()
                    progress.done(step, number, errors=sum(m.error is not None for m in self._measurements))
                self._refuse_if_all_failed()
        return self._finish(sizes, scale, answer_tokens)

    async def _open(self, stack: AsyncExitStack) -> ChatModel:
        spec = self._plan.model.spec
        self._say(f"opening the model {self._plan.model.name}")
        model = await open_model(
            spec,
            name=self._plan.model.name,
            clock=self._clock,
            script=oracle_script() if isinstance(spec, OracleSpec) else None,
            roles=[slot(number) for number in range(max(2, *self._plan.concurrency))],
            on_progress=self._say,
        )
        stack.push_async_callback(model.aclose)
        await model.warm(())
        return model

    async def _learn(self, model: ChatModel, tools: tuple[ToolSchema, ...]) -> tuple[PromptScale, int]:
        """The scale from four small requests, which are measured in no other way, and the limit of an answer."""
        self._say("learning how text becomes tokens at this server (4 requests)")
        maker = PromptMaker((), (), RULE_OF_THUMB, self._plan.seed, self._salt, ANSWER_TOKENS)
        few, many = tools[: SCALE_TOOLS[0]], tools[: SCALE_TOOLS[1]]
        asked = [(SCALE_CHARS[0], ()), (SCALE_CHARS[1], ()), (SCALE_CHARS[0], few), (SCALE_CHARS[0], many)]
        found: list[Exchange] = []
        for number, (chars, offered) in enumerate(asked):
            request = maker.plain(chars, offered, f"scale {number}", role=slot(0))
            found.append(await exchange(model, request, self._clock))
        errors = [e.error for e in found if e.error is not None]
        if len(errors) == len(found):
            raise errors[-1]
        answer_tokens = ANSWER_TOKENS
        if any(e.thought for e in found):
            answer_tokens = THINKING_ANSWER_TOKENS
            self._note(f"the model thinks before it answers: up to {answer_tokens} tokens are allowed for an answer")
        counts = [e.usage.prompt_tokens for e in found if e.usage.prompt_tokens is not None]
        if len(counts) < len(found):
            self._note("the server does not say how many tokens it read: prompt sizes are estimates")
            return RULE_OF_THUMB, answer_tokens
        scale = scale_from(*counts, chars=SCALE_CHARS, tool_chars=(tool_chars(few), tool_chars(many)))
        return scale, answer_tokens

    def _sizes(self, answer_tokens: int) -> tuple[int, ...]:
        spec, limit = self._plan.model.spec, self._plan.max_tokens
        if isinstance(spec, EmbeddedSpec):
            room = spec.context_tokens - answer_tokens - ANSWER_ROOM
            limit = room if limit is None else min(limit, room)
        sizes = capped(self._plan.sizes, limit)
        if limit is not None and limit < max(self._plan.sizes):
            self._note(f"prompts are at most {limit} tokens long; longer sizes are measured at that")
        return sizes

    async def _step(self, model: ChatModel, maker: PromptMaker, step: Step, number: int) -> list[Measurement]:
        """Have read what must have been read, then measure. Without it nothing is sent: it would not be warm."""
        unread = await self._prepare(model, maker, step)
        requests = step.requests(maker)
        if unread is None:
            found = list(await asyncio.gather(*(exchange(model, r, self._clock) for r in requests)))
        else:
            found = [Exchange(self._clock.now_s(), error=unread) for _ in requests]
        if step.kind == "cold" and found[0].error is None:
            self._read_key = step.key
        self._last_error = next((e.error for e in found if e.error is not None), self._last_error)
        return [self._measurement(e, step, number, len(self._measurements) + place) for place, e in enumerate(found, 1)]

    async def _prepare(self, model: ChatModel, maker: PromptMaker, step: Step) -> ModelError | None:
        """The error of a request that failed twice, or None: all is read."""
        for request in step.prepare(maker, read=self._read_key):
            for _ in range(2):
                error = (await exchange(model, _short(request), self._clock)).error
                if error is None:
                    break
            else:
                return error
        return None

    def _measurement(self, e: Exchange, step: Step, round_number: int, number: int) -> Measurement:
        return Measurement(
            number=number,
            round=round_number,
            kind=step.kind,
            target_tokens=step.tokens,
            concurrency=step.concurrency,
            sent_at_ms=round((e.sent_s - self._began_s) * 1000, 3),
            stream_opened_ms=e.ms(e.stream_opened_s),
            first_chunk_ms=e.ms(e.first_chunk_s),
            first_reasoning_ms=e.ms(e.first_reasoning_s),
            ttft_ms=e.ms(e.first_token_s),
            first_speakable_ms=e.ms(e.first_speakable_s),
            last_token_ms=e.ms(e.last_token_s),
            prompt_tokens=e.usage.prompt_tokens,
            cached_tokens=e.usage.cached_tokens,
            completion_tokens=e.usage.completion_tokens,
            reasoning_tokens=e.usage.reasoning_tokens,
            pieces=e.pieces,
            tokens_per_s=e.tokens_per_s(by_pieces=self._scripted),
            tool_calls=e.tool_calls,
            finish_reason=e.finish_reason,
            error=e.error_line(),
        )

    def _refuse_if_all_failed(self) -> None:
        if self._last_error is not None and all(m.error is not None for m in self._measurements):
            raise self._last_error

    def _note(self, text: str) -> None:
        self._notes.append(text)
        self._say(text)

    def _finish(self, sizes: tuple[int, ...], scale: PromptScale, answer_tokens: int) -> LatencyProfile:
        plan = self._plan
        summary = summarise(
            self._measurements, sizes=sizes, levels=plan.concurrency, rounds=plan.repeats, scripted=self._scripted
        )
        cold = summary.kinds["cold"]
        if cold.cached_tokens and cold.prompt_tokens and cold.cached_tokens > 0.1 * cold.prompt_tokens:
            self._note(
                f"the server says that it had {cold.cached_tokens:,.0f} of {cold.prompt_tokens:,.0f} tokens of a cold "
                "prompt in its cache: the cold figures are not cold"
            )
        profile = LatencyProfile(
            product_version=__version__,
            model=model_info(plan.model),
            started_at=utc_stamp(self._began_unix_s),
            duration_ms=round((self._clock.now_s() - self._began_s) * 1000, 1),
            seed=plan.seed,
            salt=self._salt,
            rounds=plan.repeats,
            sizes=sizes,
            concurrency=plan.concurrency,
            answer_tokens=answer_tokens,
            scale=scale,
            notes=tuple(self._notes),
            host=host(),
            summary=summary,
            measurements=tuple(self._measurements),
        )
        path = self._folder / PROFILE_FILE
        with disk_errors(path):
            path.write_text(profile.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return profile


def _short(request: ChatRequest) -> ChatRequest:
    """The same request; only a few tokens of an answer are wanted."""
    return replace(request, max_tokens=PREPARE_TOKENS)

"""Live progress of a call on stderr: one line for each thing that happens."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, Literal, cast

from rich.console import Console
from rich.text import Text

from callm_voice.core.events import (
    AgentHeard,
    BargeIn,
    CallEnded,
    CallerNote,
    CallStarted,
    Event,
    Failed,
    HandedOff,
    InferenceMark,
    InferenceStarted,
    LineEnded,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    ToolFinished,
    ToolStarted,
    TranscriptReady,
    UtteranceStarted,
)
from callm_voice.report.text import arguments, clip, mm_ss, styled

_Line = tuple[str, str, str]
"""Label, text, style."""
LONGEST_ARGUMENTS = 160
_Colours = Literal["auto", "standard", "256", "truecolor", "windows"]


class LiveProgress:
    """A listener for `EventLog.listen`. It never raises: when the console cannot be written any more it falls silent.

    Args:
        console: where to print; `Console(stderr=True)`. Without a terminal behind it the lines are plain.
        notes: also print why the caller did what it did.
    """

    def __init__(self, console: Console, *, notes: bool = False) -> None:
        self._console: Console | None = console
        self._notes = notes
        self._page = Console(
            file=io.StringIO(),
            color_system=cast("_Colours | None", console.color_system),
            force_terminal=console.is_terminal,
            no_color=console.no_color,
        )
        self._sentences: dict[int, SentenceReady] = {}
        self._inferences: dict[int, InferenceStarted] = {}
        self._handlers: dict[type[Event], Callable[[Any], _Line | None]] = {
            CallStarted: lambda e: ("call", f"{e.task} | {e.model} | {e.line} | {e.pipeline} | seed {e.seed}", "bold"),
            UtteranceStarted: lambda e: ("caller", e.said, "cyan"),
            CallerNote: lambda e: ("note", e.note, "dim") if self._notes else None,
            TranscriptReady: self._heard,
            InferenceStarted: self._remember_inference,
            InferenceMark: self._first_token,
            SentenceReady: self._remember_sentence,
            PlayoutStarted: self._agent,
            PlayoutEnded: lambda e: ("cut", f"played: {e.played or '(nothing)'}", "yellow") if e.cut else None,
            AgentHeard: lambda e: ("agent ~", e.heard or "(nothing recognised)", "green"),
            BargeIn: lambda e: ("barge-in", _lost(e), "bold yellow"),
            ToolStarted: self._tool,
            ToolFinished: self._tool_result,
            HandedOff: lambda e: ("handoff", f"{e.from_role} > {e.to_role}", "magenta"),
            LineEnded: lambda e: ("lag", f"{e.late_ticks} of {e.ticks} ticks late", "yellow") if e.late_ticks else None,
            Failed: lambda e: ("failed", f"{e.stage}: {e.message}", "bold red"),
            CallEnded: lambda e: ("ended", f"{e.reason} {e.detail}", "bold"),
        }

    def __call__(self, event: Event) -> None:
        handler = self._handlers.get(type(event))
        line = handler(event) if handler else None
        if line is None or self._console is None:
            return
        label, text, style = line
        try:
            shown = Text.assemble((f"{mm_ss(event.t_ms):>8}  ", "dim"), (f"{label:<9} ", style), styled(text))
            self._console.file.write(self._render(shown))
            self._console.file.flush()
        except (OSError, ValueError):  # a closed pipe or file, or characters that it cannot encode
            self._console = None

    def _render(self, line: Text) -> str:
        """As the console would write it, which is not asked: it answers a broken pipe with SystemExit."""
        with self._page.capture() as rendered:
            self._page.print(line, soft_wrap=True)
        return rendered.get()

    def _remember_inference(self, event: InferenceStarted) -> None:
        self._inferences[event.inference_id] = event

    def _remember_sentence(self, event: SentenceReady) -> None:
        self._sentences[event.sentence_id] = event

    def _heard(self, event: TranscriptReady) -> _Line:
        if event.heard:
            return "heard", event.heard, ""
        return (
            "heard",
            f"(nothing; {event.rejected} rejected: {event.raw})" if event.rejected else "(nothing)",
            "yellow",
        )

    def _first_token(self, event: InferenceMark) -> _Line | None:
        started = self._inferences.get(event.inference_id)
        if event.mark != "first_token" or started is None:
            return None
        cause = started.cause.replace("_", " ")
        return "model", f"{started.role}: first token after {event.t_ms - started.t_ms:.0f} ms ({cause})", "dim"

    def _agent(self, event: PlayoutStarted) -> _Line:
        sentence = self._sentences.get(event.sentence_id)
        if sentence is None:
            return "agent", f"(sentence {event.sentence_id})", "green"
        inference = self._inferences.get(sentence.inference_id)
        return "agent", f"[{inference.role}] {sentence.text}" if inference else sentence.text, "green"

    def _tool(self, event: ToolStarted) -> _Line:
        return "tool", clip(f"{event.name}({arguments(event.args)})", LONGEST_ARGUMENTS), "blue"

    def _tool_result(self, event: ToolFinished) -> _Line:
        if event.ok:
            return "  ok", f"{event.name} in {event.duration_ms:.0f} ms", "blue"
        reason = event.error or event.output.get("error_code") or "no reason given"
        return "  not ok", f"{event.name}: {reason}", "yellow"


def _lost(event: BargeIn) -> str:
    if event.dropped_ms > 0:
        return f"{event.dropped_ms:.0f} ms of the agent were never played"
    return "before the agent has answered"

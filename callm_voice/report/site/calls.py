"""One call's page, its sound and its files; and what the other pages need to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from callm_voice.core.ids import short_hash
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import (
    EVENTS_FILE,
    GOLD_FILE,
    RECORD_FILE,
    STATE_FILE,
    safe_name,
)
from callm_voice.report.score_rows import CallRow, load_row, make_row
from callm_voice.report.site.blame import blame_rows
from callm_voice.report.site.collect import CallPlace, LoadedCall, load_call
from callm_voice.report.site.conversation import rows_of
from callm_voice.report.site.desks import DeskView
from callm_voice.report.site.gates import failed_gates, gates_view
from callm_voice.report.site.graph import Drawing, draw
from callm_voice.report.site.marks import player_data
from callm_voice.report.site.moments import Moment, moment_of
from callm_voice.report.site.pages import Site
from callm_voice.report.site.sound import AudioKind, Peaks, split_sound
from callm_voice.report.site.waterfall import inference_rows, span_names, turn_bars
from callm_voice.report.site.words import ms_at_bar
from verifier import VERIFIER_VERSION

DATA_NAME = "CALLM_CALL"
RECORD_COPY = "record.json"
"""Not `call.json`: what looks for finished calls must not find the site's copies."""
DOWNLOADS = {
    RECORD_FILE: (RECORD_COPY, "the record: transcript, tool calls, verdict, latency"),
    EVENTS_FILE: (EVENTS_FILE, "every step on the line's clock"),
    STATE_FILE: (f"{STATE_FILE}.gz", "the database at hang-up"),
    GOLD_FILE: (f"{GOLD_FILE}.gz", "what the verifier expects, with the seed"),
}
"""File of the call → its name beside the page, and what it is. Whole databases are compressed."""


@dataclass(frozen=True)
class InferencePoint:
    """One request, for the latency page."""

    cause: str
    ttft_ms: float
    prompt_tokens: int | None
    cached_tokens: int | None
    first_of_role: bool
    """The first request of its role in the call: nothing of this call's can be in the server's cache."""


@dataclass(frozen=True)
class CallSummary:
    """What the pages over many calls show of one."""

    place: CallPlace
    row: CallRow
    """What is scored of it."""
    gates: tuple[str, ...]
    moment: Moment | None
    files: tuple[str, ...]
    inferences: tuple[InferencePoint, ...]
    role_tokens: tuple[tuple[str, int], ...]
    """Role, and the prompt tokens of its first request in the call."""
    spans: tuple[tuple[str, float], ...]
    """Name and length of every piece of every answered turn; empty where the call's latency does not count."""

    @property
    def failed(self) -> bool:
        """It stands among the failures."""
        return self.moment is not None and not self.row.superseded and not self.row.by_person


def page_id(place: CallPlace) -> str:
    """The key of a call in data files and in ids of elements."""
    return "c" + short_hash(place.href.encode(), 10)


def pack_href(pack: str) -> str:
    """Page of an industry."""
    return f"pack/{safe_name(pack)}.html"


def task_href(pack: str, task: str) -> str:
    """Page of a task, with the model that stands first."""
    return f"task/{safe_name(pack)}/{safe_name(task)}/index.html"


@lru_cache(maxsize=64)
def _whole_graph(desk: DeskView, path: tuple[str, ...], expected: tuple[str, ...] | None) -> Drawing:
    return draw([role.name for role in desk.roles], desk.edges, desk.start_role, path, expected)


def path_graphs(record: CallRecord, desk: DeskView) -> dict[str, Drawing]:
    """The expected and the actual path on the full architecture."""
    if record.verdict is None:
        return {}
    path = record.verdict.path
    return {
        "expected": _whole_graph(desk, path.expected, path.expected),
        "actual": _whole_graph(desk, path.actual, path.expected),
    }


def conversation(call: LoadedCall, desk: DeskView, row: CallRow) -> dict[str, Any]:
    """What the templates of a conversation need: transcript, gates, blame and drawings."""
    return {
        "id": page_id(call.place),
        "place": call.place,
        "record": call.record,
        "rows": rows_of(call.record, call.events),
        "view": gates_view(call.record, call.gold),
        "graphs": path_graphs(call.record, desk),
        "moment": moment_of(call.record, row.blame, call.events),
        "blame": blame_rows(row.blame, call.record),
    }


def write_call(site: Site, place: CallPlace, desk: DeskView, audio: AudioKind) -> CallSummary:
    """Write the page of one call, its data, its sound and its files.

    Raises:
        ConfigError: a file of the call is not what it should be.
        DiskError: a file cannot be written.
    """
    call = load_call(place)
    record, latency = call.record, call.record.latency
    peaks: Peaks | None = None
    files: list[str] = []
    if place.audio is not None:
        peaks, files = split_sound(place.audio, site.out / place.href, audio)
    row = _row(call)
    shown = conversation(call, desk, row)
    site.data(f"{place.href}data.js", DATA_NAME, shown["id"], player_data(call, shown["rows"], peaks, files))
    downloads = [(name, name, "this party's sound alone") for name in files]
    for name, (copy, what) in DOWNLOADS.items():
        if (place.folder / name).is_file():
            put = site.compress if copy.endswith(".gz") else site.copy
            put(place.folder / name, place.href + copy)
            downloads.append((copy, name if copy == RECORD_COPY else copy, what))
    names = span_names(latency) if latency else []
    task = desk.tasks.get(place.task)
    site.page(
        f"{place.href}index.html",
        "call.html",
        title=f"{place.pack}/{place.task}, {place.model}, trial {place.trial}",
        pack_title=desk.title, pack_href=pack_href(place.pack), task_title=task.title if task else "",
        task_href=task_href(place.pack, place.task), has_audio=bool(files), latency=latency,
        median=ms_at_bar(latency.ttft["caller_turn"].p50, latency.bar_ms) + " ms" if latency else "",
        turns=turn_bars(latency) if latency else [], span_names=names,
        span_index={name: n for n, (name, _) in enumerate(names)},
        inferences=inference_rows(latency, call.events) if latency else [],
        downloads=downloads,
        **shown,
    )  # fmt: skip
    return _summary(place, row, record, shown["moment"], files)


def _row(call: LoadedCall) -> CallRow:
    """As scores read it; a verdict of another version of the verifier is computed anew there, and so here."""
    place, verdict = call.place, call.record.verdict
    if verdict is not None and verdict.verifier_version != VERIFIER_VERSION:
        return load_row(place.folder, superseded=place.superseded)
    gold = call.gold if call.record.outcome.status != "invalid" else None
    return make_row(call.record, gold, folder=place.folder, superseded=place.superseded)


def _summary(
    place: CallPlace, row: CallRow, record: CallRecord, moment: Moment | None, files: list[str]
) -> CallSummary:
    latency = record.latency
    counts = latency is not None and latency.valid and row.scored
    tokens: dict[str, int | None] = {}
    points = []
    for inference in latency.inferences if latency else ():
        first = inference.role not in tokens
        tokens.setdefault(inference.role, inference.prompt_tokens)
        if counts and inference.ttft_ms is not None and not inference.interrupted and not inference.failed:
            points.append(
                InferencePoint(
                    inference.cause, inference.ttft_ms, inference.prompt_tokens, inference.cached_tokens, first
                )
            )
    turns = latency.turns if latency is not None and counts else ()
    return CallSummary(
        place, row, failed_gates(record.verdict), moment, tuple(place.href + name for name in files), tuple(points),
        role_tokens=tuple((role, n) for role, n in tokens.items() if n is not None),
        spans=tuple((span.name, span.duration_ms) for turn in turns for span in turn.spans),
    )  # fmt: skip

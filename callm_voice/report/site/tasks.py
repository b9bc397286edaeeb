"""A task's pages: one a model, the model that stands first also under the task's own address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callm_voice.core.runfolder import safe_name
from callm_voice.core.score_format import ModelScore
from callm_voice.report.site.calls import CallSummary, conversation, pack_href, page_id, task_href
from callm_voice.report.site.collect import load_call
from callm_voice.report.site.desks import DeskView
from callm_voice.report.site.leaderboard import task_cells
from callm_voice.report.site.pages import Site


def model_href(pack: str, task: str, model: str) -> str:
    """A task's page for one model."""
    # The prefix keeps a model that is called `index` off the task's own page.
    return f"task/{safe_name(pack)}/{safe_name(task)}/m-{safe_name(model)}.html"


def representative(calls: Sequence[CallSummary], status: str) -> CallSummary | None:
    """The call that stands for a model's passing or failing ones: with sound before without, then the first trial."""
    fitting = [call for call in calls if call.row.status == status and call.row.scored]
    return min(fitting, key=lambda c: (not c.files, c.place.trial, c.place.line, c.place.href), default=None)


def write_task(
    site: Site, desk: DeskView, pack: str, task: str, calls: Sequence[CallSummary], models: Sequence[str],
    scores: Sequence[ModelScore],
) -> None:  # fmt: skip
    """Write all pages of one task.

    Args:
        calls: those of this task.
        models: those that tried it, best first.
        scores: of the whole run; what they say of this task is shown.
    """
    by_model = {model: [call for call in calls if call.place.model == model] for model in models}
    found = {score.model: score for score in scores}
    shared = {
        "pack": pack, "task_id": task, "pack_title": desk.title, "pack_href": pack_href(pack),
        "task": desk.tasks.get(task), "desk": desk,
        "tabs": [(model, model_href(pack, task, model)) for model in models],
        "scores": _score_rows(found, by_model, f"{pack}/{task}"),
    }  # fmt: skip
    for number, model in enumerate(models):
        shown = _conversations(by_model[model], desk)
        values = {**shared, "model": model, "shown": shown, "title": f"{pack}/{task}, {model}"}
        addresses = [model_href(pack, task, model), *([task_href(pack, task)] if number == 0 else [])]
        for address in addresses:
            site.page(address, "task.html", **values, current=model_href(pack, task, model))


def _conversations(calls: Sequence[CallSummary], desk: DeskView) -> list[dict[str, Any]]:
    """A passing and a failing one, where there are; else one that does not count, so that the page is not empty."""
    chosen = [(status, representative(calls, status)) for status in ("pass", "fail")]
    other = next((call for call in calls if not call.row.by_person), calls[0])
    picked = [(status, call) for status, call in chosen if call is not None]
    picked = picked or [("person" if other.row.by_person else "invalid", other)]
    return [
        {**conversation(load_call(call.place), desk, call.row), "status": status, "files": call.files,
         "key": page_id(call.place)}
        for status, call in picked
    ]  # fmt: skip


def _score_rows(
    found: dict[str, ModelScore], by_model: dict[str, list[CallSummary]], task: str
) -> list[dict[str, Any]]:
    """What the score says of the task, with a link to each run."""
    rows = task_cells(found.get, list(by_model), task)
    pack, _, task_id = task.rpartition("/")
    for row in rows:
        runs = [call for call in by_model[row["model"]] if call.place.line == row["line"]]
        row["runs"] = [{"status": call.row.status, "trial": call.place.trial, "href": call.place.href} for call in runs]
        row["href"] = model_href(pack, task_id, row["model"])
    return rows

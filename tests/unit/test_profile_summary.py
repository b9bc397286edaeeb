"""From measurements to the summary, the table and the plots."""

from __future__ import annotations

import io
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from callm_voice.bench.profile.summary import summarise
from callm_voice.cli.profile import draw_plots, exit_code, numbers
from callm_voice.core.errors import MissingDependencyError, UsageError
from callm_voice.core.latency_profile import Kind, LatencyProfile, Measurement, PromptScale
from callm_voice.core.record import EngineInfo
from callm_voice.report.plots import stages_of, write_plots
from callm_voice.report.profile_view import SCRIPTED, profile_view

pytestmark = pytest.mark.unit

SIZES, LEVELS = (500, 2000), (1, 2)


def one(number: int, kind: Kind = "warm", *, ttft_ms: float | None = 400.0, **fields: Any) -> Measurement:
    given = {"round": 1, "target_tokens": 2000, "sent_at_ms": 0.0, "prompt_tokens": 2010} | fields
    if ttft_ms is not None:
        given |= {"stream_opened_ms": 5.0, "first_chunk_ms": 6.0, "first_speakable_ms": ttft_ms + 30}
        given["last_token_ms"] = ttft_ms + 900
    return Measurement(number=number, kind=kind, ttft_ms=ttft_ms, **given)


def profile_of(measurements: list[Measurement], *, scripted: bool = False, rounds: int = 1) -> LatencyProfile:
    summary = summarise(measurements, sizes=SIZES, levels=LEVELS, rounds=rounds, scripted=scripted)
    return LatencyProfile(
        product_version="0", model=EngineInfo(engine="openai", model="m [bold]$x$"), started_at="2026-01-01T00:00:00Z",
        duration_ms=1.0, seed=1, salt="s", rounds=rounds, sizes=SIZES, concurrency=LEVELS, answer_tokens=64,
        scale=PromptScale(base_tokens=1, tokens_per_prose_char=0.2, tokens_per_tool_char=0.2, measured=True),
        summary=summary, measurements=tuple(measurements),
    )  # fmt: skip


def whole(median_ms: float = 400.0) -> list[Measurement]:
    """Three rounds of everything, slower by 0.2 ms for each token of a cold prompt."""
    draw = random.Random(1)
    found: list[Measurement] = []
    for number in (1, 2, 3):
        for size in SIZES:
            cold = 100 + 0.2 * size + draw.uniform(-5, 5)
            found.append(
                one(len(found) + 1, "cold", ttft_ms=cold, round=number, target_tokens=size, prompt_tokens=size)
            )
            for _ in range(3 if size == 2000 else 1):
                found.append(one(len(found) + 1, ttft_ms=median_ms + draw.uniform(-9, 9), round=number,
                                 target_tokens=size))  # fmt: skip
        kinds: tuple[Kind, ...] = ("tool_result", "handoff_cold", "handoff_warm")
        found += [one(len(found) + 1 + at, kind, ttft_ms=300.0, round=number) for at, kind in enumerate(kinds)]
        for level in LEVELS:
            found += [
                one(len(found) + 1, "concurrent", ttft_ms=200.0 * level, round=number, concurrency=level)
                for _ in range(level)
            ]
    return found


def shown(profile: LatencyProfile, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(profile_view(profile))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_headline_is_the_warm_turns_of_the_desks_size_alone() -> None:
    summary = profile_of(whole()).summary
    assert (summary.desk_tokens, summary.headline.ttft.n) == (2000, 9)
    assert summary.headline.ttft.p50 == pytest.approx(400, abs=9)


@pytest.mark.parametrize(("ttft_ms", "inside", "code"), [(1000.0, True, 0), (1000.001, False, 1), (None, None, 3)])
def test_the_bar_itself_is_inside(ttft_ms: float | None, inside: bool | None, code: int) -> None:
    profile = profile_of([one(n, ttft_ms=ttft_ms) for n in range(1, 10)])
    assert profile.summary.in_category is inside
    assert exit_code(profile) == code


def test_an_interval_that_holds_the_bar_settles_nothing() -> None:
    times = [700.0, 750, 800, 900, 990, 1100, 1200, 1300, 1400]
    profile = profile_of([one(n, ttft_ms=t) for n, t in enumerate(times, 1)])
    assert (profile.summary.in_category, profile.summary.settled) == (True, False)
    assert "Not settled" in shown(profile)
    assert profile_of(whole()).summary.settled is True


def test_failures_are_counted_and_in_no_statistic() -> None:
    bad = one(99, ttft_ms=None, error="ModelStatusError: HTTP 500")
    summary = profile_of([*whole(), bad]).summary
    assert summary.headline.ttft.n == 9
    assert (summary.headline.errors, summary.errors) == (1, {"ModelStatusError: HTTP 500": 1})


def test_an_answer_without_a_token_is_counted_apart() -> None:
    assert profile_of([*whole(), one(99, ttft_ms=None)]).summary.headline.no_token == 1


def test_the_line_is_fitted_to_the_cold_prompts_alone() -> None:
    fit = profile_of(whole()).summary.fit
    assert fit is not None
    assert fit.n == 6
    assert fit.ms_per_1k_tokens == pytest.approx(200, abs=10)


def test_the_levels_are_told_apart() -> None:
    levels = profile_of(whole()).summary.levels
    assert [(level.concurrency, level.figures.ttft.n, level.figures.ttft.p50) for level in levels] == [
        (1, 3, 200.0), (2, 6, 400.0)
    ]  # fmt: skip


def test_the_median_turn_is_a_measured_one() -> None:
    profile = profile_of([one(1, ttft_ms=100.0), one(2, ttft_ms=300.0), one(3, ttft_ms=200.0), one(4, ttft_ms=900.0)])
    assert profile.summary.median_turn == 3


def test_the_view_says_in_or_out_with_the_interval_its_method_and_p95() -> None:
    text = " ".join(shown(profile_of(whole())).split())
    assert text.startswith("IN THE CATEGORY: median TTFT")
    assert "exact binomial order statistics" in text
    assert "P95" in text
    assert shown(profile_of(whole(1500))).startswith("OUT OF THE CATEGORY")


def test_the_view_says_that_the_oracles_figures_are_no_models() -> None:
    assert SCRIPTED in " ".join(shown(profile_of(whole(), scripted=True)).split())
    assert SCRIPTED not in " ".join(shown(profile_of(whole())).split())


def test_tables_fit_a_terminal_of_80_columns() -> None:
    assert "…" not in shown(profile_of(whole()), width=80)


def test_a_profile_comes_back_from_its_json() -> None:
    profile = profile_of(whole())
    assert LatencyProfile.model_validate_json(profile.model_dump_json()) == profile


def test_the_stages_of_a_turn_follow_each_other_and_end_with_the_last_token() -> None:
    stages = stages_of(one(1, ttft_ms=400.0, first_reasoning_ms=100.0))
    assert [label for label, _, _ in stages] == [
        "stream opened", "first chunk", "first thought", "first token", "first speakable", "last token"
    ]  # fmt: skip
    assert stages[0][1] == 0
    assert all(before[2] == after[1] for before, after in pairwise(stages))
    assert stages[-1][2] == 1300


def test_without_matplotlib_the_line_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="matplotlib") as caught:
        write_plots(profile_of(whole()), tmp_path)
    assert "callm-voice[plots]" in caught.value.hint


def test_three_plots_as_png_and_svg(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots`")
    written = write_plots(profile_of(whole()), tmp_path)
    assert sorted(p.name for p in written) == [
        f"{name}.{suffix}" for name in ("median-turn", "ttft-distribution", "ttft-tokens") for suffix in ("png", "svg")
    ]
    assert all(p.read_bytes()[:4] == b"\x89PNG" for p in written if p.suffix == ".png")


def test_a_profile_in_which_nothing_was_answered_has_no_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots`")
    assert write_plots(profile_of([one(1, ttft_ms=None)]), tmp_path) == []


def test_numbers_with_commas() -> None:
    assert numbers("--sizes", "2000, 500,500", (200, 9000), (1,)) == (500, 2000)
    assert numbers("--sizes", None, (200, 9000), (1,)) == (1,)


@pytest.mark.parametrize("text", ["", "many", "500;1000", "100", "10000", "1.5"])
def test_wrong_numbers_name_the_option(text: str) -> None:
    with pytest.raises(UsageError, match="--sizes"):
        numbers("--sizes", text, (200, 9000), (1,))


def test_the_command_goes_on_without_matplotlib_and_says_how_to_get_plots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("callm_voice.cli.profile.say", lines.append)
    assert draw_plots(profile_of(whole()), tmp_path) == []
    assert len(lines) == 1
    assert "pip install 'callm-voice[plots]'" in lines[0]

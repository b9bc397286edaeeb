"""What a reader does: sort, filter, listen, go through the failures. Figures are those of `callm-voice score`."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page
from support.browsing import Opener, Sample
from support.cli import callm
from support.hostile import MODEL

from callm_voice.core.runfolder import load_record
from callm_voice.report.score import load_calls

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
COLUMNS = ("model", "pass@1", "pass5", "p50", "p95", "over", "category", "v2v", "cost", "trials", "invalid")


def board(page: Page) -> list[dict[str, str]]:
    """The leaderboard as it is shown, the first line of each cell."""
    script = "rows => rows.map(r => [...r.cells].map(c => c.firstChild ? c.firstChild.textContent.trim() : ''))"
    cells = page.locator("#board tbody tr").evaluate_all(script)
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells]


def expected(model: dict[str, Any]) -> dict[str, str]:
    """One row of the leaderboard, from the JSON of `callm-voice score`."""

    def percent(share: float | None) -> str:
        return "–" if share is None else f"{100 * share:.1f} %"

    def ms(figure: float | None) -> str:
        return "–" if figure is None else f"{figure:,.0f}"

    cost = model["cost_usd"]
    return {
        "model": model["model"], "pass@1": percent(model["pass_at_1"]), "pass5": percent(model["pass5"]),
        "p50": ms(model["ttft_ms"]["p50"]), "p95": ms(model["ttft_ms"]["p95"]),
        "over": percent(model["ttft_ms"]["share_over_bar"]),
        "category": {True: "in", False: "out", None: "–"}[model["in_category"]],
        "v2v": ms(model["v2v_ms"]["p50"]), "cost": "–" if cost is None else f"${cost:,.3f}",
        "trials": f"{model['passed']:,} of {model['trials']:,}", "invalid": str(model["invalid"]),
    }  # fmt: skip


@pytest.mark.parametrize(
    "filters", [{}, {"line": "text"}, {"pack": "demo"}, {"pack": "clinic", "line": "pstn-g711u", "difficulty": "hard"}],
    ids=lambda f: " ".join(f.values()) or "all",
)  # fmt: skip
def test_the_leaderboard_says_what_the_score_command_says(
    sample: Sample, open_page: Opener, filters: dict[str, str]
) -> None:
    options = [part for name, value in filters.items() for part in (f"--{name}", value)]
    scored = callm("score", str(sample.run), "--json", *options).json
    page = open_page(sample.built.index.as_uri()).page
    for name, value in filters.items():
        page.select_option(f'select[data-filter="{name}"]', value)
    wanted = {m["model"]: expected(m) for m in scored["models"]}
    assert {row["model"]: row for row in board(page)} == wanted


def test_a_heading_sorts_and_sorts_back(sample: Sample, open_page: Opener) -> None:
    page = open_page(sample.built.index.as_uri()).page
    heading = page.get_by_role("columnheader", name="TTFT P50").get_by_role("button")
    heading.click()
    up = [row["p50"] for row in board(page)]
    assert up == sorted(up, key=lambda text: float(text.replace(",", "")))
    heading.click()
    assert [row["p50"] for row in board(page)] == up[::-1]
    page.select_option('select[data-filter="line"]', "pstn-g711u")
    down = [row["p50"] for row in board(page)]
    assert down == sorted(down, key=lambda text: -float(text.replace(",", "")))


def test_the_scatter_has_one_mark_for_each_model_with_both_figures(sample: Sample, open_page: Opener) -> None:
    page = open_page(sample.built.index.as_uri()).page
    both = [row for row in board(page) if row["p50"] != "–" and row["pass@1"] != "–"]
    assert page.locator("#scatter .point").count() == len(both) > 0
    page.select_option('select[data-filter="line"]', "text")
    assert page.locator("#scatter .point").count() == 0
    assert "No model" in page.locator("#scatter").inner_text()


def test_the_latency_page_says_what_the_score_says(sample: Sample, open_page: Opener) -> None:
    scored = callm("score", str(sample.run), "--json").json
    page = open_page(sample.url + "latency.html").page
    for model in scored["models"]:
        tables = page.locator("table[data-model]").filter(has=page.locator("tr"))
        table = next(t for t in tables.all() if t.get_attribute("data-model") == model["model"])
        for cause, figures in model["ttft_by_cause"].items():
            cells = table.locator(f'tr[data-cause="{cause}"] td').all_inner_texts()
            wanted = ["–" if figures[q] is None else f"{figures[q]:,.0f}" for q in ("p50", "p95", "p99")]
            assert cells[:4] == [str(figures["n"]), *wanted]


def test_a_click_on_a_latency_marks_its_span_and_seeks_there(sample: Sample, open_page: Opener) -> None:
    row = next(r for r in load_calls([sample.run]) if r.model == "alpha" and r.line == "pstn-g711u")
    latency = load_record(row.folder).latency
    assert latency is not None
    turn = latency.turns[1]
    watched = open_page(sample.call(row.task, "alpha", row.trial))
    page, player = watched.page, watched.page.locator(".player")
    page.locator(".waterfall .v2v").nth(1).click()
    assert player.get_attribute("data-chosen") == f"{turn.speech_end_ms:.0f} {turn.audio_start_ms:.0f}"
    assert player.get_attribute("data-at") == f"{turn.speech_end_ms:.0f}"
    page.wait_for_function(
        f"() => CALLM_PLAYERS[0].audio.every(a => Math.abs(a.currentTime * 1000 - {turn.speech_end_ms}) < 1)"
    )
    page.locator(".waterfall .bar").nth(1).click()
    span = latency.turns[0].spans[1]
    assert player.get_attribute("data-chosen") == f"{span.start_ms:.0f} {span.start_ms + span.duration_ms:.0f}"
    assert "TTFT" in page.locator(".player .selection").inner_text()
    assert page.locator("button.chosen").count() == 1
    coloured = page.locator("canvas.wave").first.evaluate(
        "c => { const d = c.getContext('2d').getImageData(c.width / 2, 2, 1, 1).data; return d[3] > 0; }"
    )
    assert coloured, "the middle of the chosen stretch, which the view was centred on, is not coloured"
    assert watched.errors == []


def test_both_channels_play_in_step_and_the_transcript_follows(sample: Sample, open_page: Opener) -> None:
    watched = open_page(sample.call("demo/C1-E1", "alpha", 1))
    page = watched.page
    page.get_by_role("button", name="00:04.0").click()
    page.locator(".player .play").click()
    page.wait_for_function("() => CALLM_PLAYERS[0].at > 4300", timeout=30_000)
    assert page.evaluate("CALLM_PLAYERS[0].audio.every(a => !a.paused && !a.error)")
    apart = page.evaluate("Math.abs(CALLM_PLAYERS[0].audio[0].currentTime - CALLM_PLAYERS[0].audio[1].currentTime)")
    assert apart < 0.5
    assert "caller" in page.locator(".transcript .row.now").get_attribute("class", timeout=5_000).split()
    page.locator(".player .play").click()
    assert page.evaluate("CALLM_PLAYERS[0].audio.every(a => a.paused)")
    assert watched.errors == []


def test_solo_and_mute(sample: Sample, open_page: Opener) -> None:
    page = open_page(sample.call("demo/C1-E1", "alpha", 1)).page
    muted = "CALLM_PLAYERS[0].audio.map(a => a.muted)"
    page.locator('[data-solo="0"]').click()
    assert page.evaluate(muted) == [False, True]
    page.locator('[data-solo="1"]').click()
    assert page.evaluate(muted) == [True, False]
    page.locator('[data-solo="1"]').click()
    page.locator('[data-mute="0"]').click()
    assert page.evaluate(muted) == [True, False]
    assert page.locator('[data-mute="0"]').get_attribute("aria-pressed") == "true"


def test_misheard_words_are_marked_on_both_sides(sample: Sample, open_page: Opener) -> None:
    page = open_page(sample.call("demo/C2-M1", "alpha", 2)).page
    row = page.locator(".row.turn.caller.misheard").first
    assert row.locator(".said mark").all_inner_texts() == ["Ana Field."]
    assert row.locator(".heard mark").all_inner_texts() == ["Anna Feel."]


def test_the_failures_are_gone_through_with_the_keys(sample: Sample, open_page: Opener) -> None:
    watched = open_page(sample.url + "failures.html")
    page, deck = watched.page, watched.page.locator("#deck")
    failed = [r for r in load_calls([sample.run]) if r.status != "pass"]
    assert page.locator(".failure").count() == len(failed)
    for key, at in (("j", "1"), ("j", "2"), ("k", "1")):
        page.keyboard.press(key)
        assert deck.get_attribute("data-current") == at
    page.wait_for_function("() => document.getElementById('play').textContent.includes('Pause')")
    page.keyboard.press(" ")
    assert "Play" in page.locator("#play").inner_text()
    page.locator(".failure").filter(has_text="Ana Field").first.get_by_role("button").click()
    assert deck.get_attribute("data-from") == "1000"
    page.locator("#open").click()
    page.wait_for_selector('.player[data-at="4000"]')
    assert watched.errors == []


def test_the_failures_can_be_grouped_and_filtered(sample: Sample, open_page: Opener) -> None:
    page = open_page(sample.url + "failures.html").page
    page.select_option("#group", "gate")
    assert "Gate 1: tools" in page.locator("#list h2").first.inner_text()
    page.select_option("#group", "model")
    page.select_option("#model", "alpha")
    failed = [r for r in load_calls([sample.run]) if r.status != "pass" and r.model == "alpha"]
    assert page.locator("#list h2").all_inner_texts() == [f"alpha ({len(failed)})"]


def test_a_task_shows_a_passing_and_a_failing_conversation_by_turns(sample: Sample, open_page: Opener) -> None:
    watched = open_page(sample.url + "task/clinic/C1-H1/index.html")
    page = watched.page
    assert page.locator("[role=tabpanel]:visible").count() == 1
    assert "All three passed" in page.locator("[role=tabpanel]:visible").inner_text()
    page.get_by_role("tab", name="failing").click()
    visible = page.locator("[role=tabpanel]:visible")
    assert visible.count() == 1
    assert visible.locator(".tool-row.missing").count() == 1
    visible.locator(".tool-row.missing summary").click()
    assert "2026-08-25T11:30" in visible.locator(".tool-row.missing .diff .wrong").inner_text()
    page.keyboard.press("Tab")
    page.get_by_role("tab", name="failing").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="passing").get_attribute("aria-selected") == "true"
    assert watched.errors == []


def test_hostile_text_is_shown_and_does_nothing(sample: Sample, open_page: Opener) -> None:
    row = next(r for r in load_calls([sample.run]) if r.model == MODEL)
    watched = open_page(sample.url + "failures.html")
    page = watched.page
    page.select_option("#group", "model")
    page.locator(".failure").filter(has_text="evil").locator("a").click()
    addresses = [page.url, *(sample.url + p for p in ("index.html", "latency.html", "pack/demo.html", "failures.html"))]
    addresses += [(sample.root / p).as_uri() for p in sample.pages() if p.startswith("task/demo/C1-E1/m-evil")]
    for address in addresses:
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.evaluate("window.pwned") is None, address
        assert page.locator("main img").count() == 0, address
        assert page.locator("main script").count() == 0, address
    page.goto(addresses[0])
    text = page.locator(".transcript").inner_text()
    record = load_record(row.folder)
    assert all(piece in text for piece in ("<script>window.pwned = 1</script>", "{{ 7 * 7 }}", "␀␛[31m"))
    assert "👩‍👩‍👧‍👦" in text
    assert MODEL in page.locator("h1").inner_text()
    assert len(record.transcript[-1].said) > 10_000
    assert watched.errors == []

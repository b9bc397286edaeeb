"""A whole call in which the caller enters a PIN on its keypad, over real codecs, with scripted engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.cli import Ran, scripted_call

from callm_voice.core import paths
from callm_voice.core.events import DtmfHeard, DtmfSent, Event, from_jsonl

pytestmark = pytest.mark.conversation

TASK = "calibration/C2-E1"
PRESSED = "[keypad: 4 7 1 1 #]"
CODECS = ["pstn-g711u", "pstn-g711a", "clean-16k", "mobile-amr-12k2", "mobile-gsm", "voip-opus-nb", "hd-g722"]
LINES = [name for name in CODECS if name in paths.known_names("audio_profiles")]


def events_of(ran: Ran) -> list[Event]:
    folder = next(line for line in ran.err.splitlines() if line.startswith("call folder: "))
    return from_jsonl((Path(folder.removeprefix("call folder: ")) / "events.jsonl").read_text("utf-8"))


def caller_lines(record: dict[str, Any]) -> list[tuple[str, str]]:
    return [(turn["said"], turn["heard"]) for turn in record["transcript"] if turn["party"] == "caller"]


@pytest.mark.parametrize("line", [*LINES, "text"])
def test_the_pin_arrives_key_by_key(line: str, tmp_path: Path) -> None:
    ran = scripted_call(tmp_path, "--line", line, task=TASK)
    assert ran.code == 0, ran.err
    assert ran.json["verdict"]["passed"]
    assert ran.json["outcome"]["status"] == "pass"
    assert (PRESSED, PRESSED) in caller_lines(ran.json)
    assert len([said for said, _ in caller_lines(ran.json) if said == PRESSED]) == 1, "it was asked again"
    events = events_of(ran)
    sent = [event for event in events if isinstance(event, DtmfSent)]
    heard = [event for event in events if isinstance(event, DtmfHeard)]
    assert [event.digits for event in sent] == ["4711#"]
    assert [event.digit for event in heard] == list("4711#")
    assert len({event.turn_id for event in heard}) == 1
    assert sent[0].t_ms <= heard[0].t_ms


def test_a_pipeline_may_leave_keys_alone(tmp_path: Path) -> None:
    pipeline = yaml.safe_load((paths.installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8"))
    pipeline |= {"id": "deaf", "dtmf": {"enabled": False}}
    file = tmp_path / "deaf.yaml"
    file.write_text(yaml.safe_dump(pipeline), encoding="utf-8")
    for line in ("pstn-g711u", "text"):
        ran = scripted_call(tmp_path / line, "--line", line, "--pipeline", str(file), task=TASK)
        events = events_of(ran)
        assert [event for event in events if isinstance(event, DtmfHeard)] == []
        assert [event for event in events if isinstance(event, DtmfSent)]
        assert PRESSED not in [heard for _, heard in caller_lines(ran.json)]
        assert not ran.json["verdict"]["passed"]


def test_words_before_the_keys_are_heard_with_them(tmp_path: Path) -> None:
    pack = tmp_path / "packs" / "calibration"
    source = paths.find("packs", "calibration")
    for path in (p for p in source.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        target = pack / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8")
        target.write_text(text.replace('say: "" #', "say: Okay, one second. #"), encoding="utf-8")
    ran = scripted_call(tmp_path / "run", "--line", "pstn-g711u", task=f"{pack}/C2-E1")
    assert ran.code == 0, ran.err
    both = f"Okay, one second. {PRESSED}"
    assert (both, both) in caller_lines(ran.json)

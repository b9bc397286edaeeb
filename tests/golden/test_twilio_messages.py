"""Messages of a Twilio media stream against committed ones: read, written back the same, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callm_voice.pipeline.twilio_messages import (
    MAX_NAME_CHARS,
    BadMessage,
    Clear,
    Connected,
    Dtmf,
    Mark,
    Media,
    Start,
    Stop,
    Unknown,
    pack,
    parse,
)

pytestmark = pytest.mark.golden
FOLDER = Path(__file__).parent / "twilio"
STREAM = "MZ18ad3ab5a668481ce02b83e7395059f0"
GOOD = sorted(p for p in FOLDER.glob("*.json") if not p.stem.endswith("_invalid"))
BAD = {
    "deep_invalid": "not a JSON object",
    "event_number_invalid": "event: expected text, got '7'",
    "mark_without_name_invalid": "mark: expected an object",
    "media_chunk_number_invalid": "chunk: expected a whole number as text, got '1'",
    "media_cut_base64_invalid": "media.payload: not base64",
    "media_not_base64_invalid": "media.payload: not base64",
    "media_wav_invalid": "header of a WAV file",
    "media_without_payload_invalid": "media: payload: expected text",
    "media_without_stream_invalid": "media: streamSid: expected text",
    "no_event_invalid": "event: expected text",
    "not_json_invalid": "not JSON",
    "start_other_format_invalid": "start.mediaFormat",
    "stop_without_ids_invalid": "stop: expected an object",
}


@pytest.mark.parametrize("path", GOOD, ids=lambda p: p.stem)
def test_a_message_is_read_and_written_back_the_same(path: Path) -> None:
    text = path.read_text("utf-8")
    message = parse(text)
    assert json.loads(pack(message)) == json.loads(text)
    assert parse(pack(message)) == message


def test_each_kind_of_message_is_told() -> None:
    read = {p.stem: parse(p.read_text("utf-8")) for p in GOOD}
    ids = ("CA00000000000000000000000000000002", "AC00000000000000000000000000000001")
    assert read["connected"] == Connected("Call", "1.0.0")
    assert read["start"] == Start(STREAM, *ids, 1, {"tools_url": "http://127.0.0.1:9000/abc", "greeting": "Zoë’s"})
    assert read["media_from_network"] == Media(STREAM, b"\x7f\xff\x7f\x00\x80", 3, 1, 0)
    assert read["media_from_agent"] == Media(STREAM, b"\x7f\xff\x7f\x00\x80")
    assert read["media_empty"] == Media(STREAM, b"")
    assert read["mark_from_agent"] == Mark(STREAM, 'greeting "1"')
    assert read["mark_from_network"] == Mark(STREAM, "greeting", 4)
    assert read["clear"] == Clear(STREAM)
    assert read["dtmf"] == Dtmf(STREAM, "#", 5)
    assert read["stop"] == Stop(STREAM, *ids, 6)


@pytest.mark.parametrize("name", [p.stem for p in sorted(FOLDER.glob("*_invalid.json"))])
def test_what_is_no_message_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(BadMessage) as refused:
        parse((FOLDER / f"{name}.json").read_text("utf-8"))
    assert BAD[name] in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250


def test_an_event_of_tomorrow_is_unknown_and_not_wrong() -> None:
    assert parse('{"event": "pause", "streamSid": "MZ1"}') == Unknown("pause")
    with pytest.raises(TypeError):
        pack(Unknown("pause"))


def test_binary_and_bottomless_messages_are_refused() -> None:
    with pytest.raises(BadMessage, match="binary"):
        parse(b'{"event": "clear"}')
    with pytest.raises(BadMessage, match="not JSON"):
        parse("[" * 100_000)
    with pytest.raises(BadMessage, match=r"mark\.name: 1025 characters"):
        parse(json.dumps({"event": "mark", "streamSid": "MZ1", "mark": {"name": "x" * (MAX_NAME_CHARS + 1)}}))
    with pytest.raises(BadMessage, match="whole number"):
        parse('{"event": "mark", "streamSid": "MZ1", "sequenceNumber": "٣", "mark": {"name": "x"}}')


def test_half_a_surrogate_pair_goes_back_as_it_came() -> None:
    """A mark's name is the agent's; a websocket sends UTF-8 alone, which has no code for it."""
    text = '{"event": "mark", "streamSid": "MZ1", "mark": {"name": "\\ud83d"}}'
    sent = pack(parse(text))
    assert parse(sent.encode("utf-8").decode("utf-8")) == Mark("MZ1", "\ud83d")


def test_a_message_that_is_just_not_too_deep_to_be_read_is_refused_too() -> None:
    for depth in range(1, 1200):
        with pytest.raises(BadMessage):
            parse('{"event": "clear", "streamSid": ' + "[" * depth + "]" * depth + "}")

"""The telephone network's side of a media stream: what it sends, and how the agent's sound and marks are played."""

from __future__ import annotations

import json

import numpy as np
import pytest

from callm_voice.audio.codec_pcm import G711
from callm_voice.core.errors import UsageError
from callm_voice.pipeline.twilio_leg import make_ids
from callm_voice.pipeline.twilio_link import is_loopback, one_line
from callm_voice.pipeline.twilio_messages import BadMessage, Clear, Mark, Media, Start, Stop, pack, parse
from callm_voice.pipeline.twilio_stream import (
    MAX_AHEAD_S,
    MAX_MARKS,
    MAX_PIECES,
    SAMPLES_PER_FRAME,
    Ids,
    TwilioStream,
    check_rate,
)

pytestmark = pytest.mark.unit
IDS = Ids("MZ1", "CA1", "AC1")
ULAW = G711("pcmu")


def stream(**parameters: str) -> TwilioStream:
    return TwilioStream(IDS, parameters)


def sound(samples: int, level: int = 1000) -> str:
    """A message of the agent's."""
    return pack(Media("MZ1", ULAW.encode(np.full(samples, level, np.int16))))


def marks(texts: list[str]) -> list[str]:
    read = [parse(text) for text in texts]
    assert all(isinstance(message, Mark) and message.stream_sid == "MZ1" for message in read)
    return [message.name for message in read if isinstance(message, Mark)]


def test_it_opens_with_connected_and_start_and_counts_its_messages() -> None:
    ours = stream(tools="http://127.0.0.1:1/x")
    connected, start = (json.loads(text) for text in ours.open())
    assert (connected["event"], start["event"]) == ("connected", "start")
    assert parse(json.dumps(start)) == Start("MZ1", "CA1", "AC1", 1, {"tools": "http://127.0.0.1:1/x"})
    heard = [parse(ours.hear(np.zeros(SAMPLES_PER_FRAME, np.int16))) for _ in range(3)]
    assert [(m.sequence, m.chunk, m.timestamp_ms) for m in heard if isinstance(m, Media)] == [
        (2, 1, 0), (3, 2, 20), (4, 3, 40),
    ]  # fmt: skip
    assert all(isinstance(m, Media) and len(m.payload) == 160 for m in heard)
    assert parse(ours.close()) == Stop("MZ1", "CA1", "AC1", 5)


def test_the_callers_sound_keeps_every_code_of_the_line() -> None:
    codes = bytes(range(SAMPLES_PER_FRAME))
    message = parse(stream().hear(ULAW.decode(codes)))
    assert isinstance(message, Media)
    assert [c for c in zip(message.payload, codes, strict=True) if c[0] != c[1]] == [(0xFF, 0x7F)], "G.711's two zeros"


def test_sound_that_comes_faster_than_real_time_is_played_a_packet_a_tick() -> None:
    ours = stream()
    assert ours.receive(sound(SAMPLES_PER_FRAME * 5)) == []
    assert ours.queued_ms == 100
    played = [ours.play()[0] for _ in range(6)]
    assert [frame is None for frame in played] == [False] * 5 + [True]
    assert ours.queued_ms == 0


def test_less_than_a_packet_waits_one_tick_for_its_rest_and_is_then_played_with_silence() -> None:
    ours = stream()
    ours.receive(sound(100))
    assert ours.play()[0] is None
    ours.receive(sound(60))
    whole = ours.play()[0]
    assert whole is not None
    assert np.count_nonzero(whole) == SAMPLES_PER_FRAME
    ours.receive(sound(40))
    assert ours.play()[0] is None
    padded = ours.play()[0]
    assert padded is not None
    assert np.count_nonzero(padded) == 40
    assert not padded[40:].any()


def test_marks_come_back_in_order_when_the_sound_before_them_was_played() -> None:
    ours = stream()
    ours.receive(sound(SAMPLES_PER_FRAME * 2))
    ours.receive(pack(Mark("MZ1", "a")))
    ours.receive(pack(Mark("MZ1", "b")))
    ours.receive(sound(SAMPLES_PER_FRAME))
    ours.receive(pack(Mark("MZ1", "c")))
    assert [marks(ours.play()[1]) for _ in range(4)] == [[], ["a", "b"], ["c"], []]


def test_a_mark_without_sound_before_it_comes_back_at_once() -> None:
    ours = stream()
    ours.receive(pack(Mark("MZ1", "now")))
    assert marks(ours.play()[1]) == ["now"]


def test_clear_drops_the_sound_and_sends_all_its_marks_back() -> None:
    ours = stream()
    ours.receive(sound(SAMPLES_PER_FRAME * 10))
    ours.receive(pack(Mark("MZ1", "a")))
    ours.receive(sound(SAMPLES_PER_FRAME))
    ours.receive(pack(Mark("MZ1", "b")))
    assert marks(ours.receive(pack(Clear("MZ1")))) == ["a", "b"]
    assert ours.play() == (None, [])
    ours.receive(sound(SAMPLES_PER_FRAME))
    assert ours.play()[0] is not None, "what comes after it is played"


def test_an_unknown_event_is_counted_and_does_nothing() -> None:
    ours = stream()
    assert ours.receive('{"event": "pause"}') == []
    ours.receive(pack(Media("MZ1", b"")))
    ours.receive(sound(7))
    assert dict(ours.counts) == {"unknown": 1, "media": 2, "empty": 1, "bytes": 7}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (pack(Media("MZ2", b"\xff")), "media: streamSid 'MZ2' is not this stream's, MZ1"),
        (pack(Mark("MZ2", "a")), "mark: streamSid"),
        (pack(Clear("MZ2")), "clear: streamSid"),
        (pack(Stop("MZ1", "CA1", "AC1", 1)), "stop: only the telephone network's side sends this"),
        ("hello", "not JSON"),
    ],
)
def test_what_an_agent_may_not_send_is_refused(text: str, words: str) -> None:
    with pytest.raises(BadMessage) as refused:
        stream().receive(text)
    assert words in str(refused.value)


def test_an_agent_cannot_fill_the_memory() -> None:
    ours = stream()
    second = sound(8000)
    for _ in range(MAX_AHEAD_S):
        ours.receive(second)
    with pytest.raises(BadMessage, match="more than 300 s of sound"):
        ours.receive(sound(1))
    pieces = stream()
    for _ in range(MAX_PIECES):
        pieces.receive(sound(1))
    with pytest.raises(BadMessage, match="more than 30000 pieces"):
        pieces.receive(sound(1))
    for n in range(MAX_MARKS):
        ours.receive(pack(Mark("MZ1", str(n))))
    with pytest.raises(BadMessage, match="1000 marks"):
        ours.receive(pack(Mark("MZ1", "one more")))


def test_ids_have_the_form_that_agents_expect() -> None:
    ids = make_ids()
    for prefix, sid in (("MZ", ids.stream_sid), ("CA", ids.call_sid), ("AC", ids.account_sid)):
        assert (sid[:2], len(sid)) == (prefix, 34)
        int(sid[2:], 16)
    assert make_ids() != ids


def test_a_line_of_another_rate_is_refused_with_a_way_out() -> None:
    check_rate(8000, "pstn-g711u")
    with pytest.raises(UsageError) as refused:
        check_rate(16000, "clean-16k")
    assert "--line clean-16k: 16,000 Hz" in refused.value.one_line()
    assert "pstn-g711u" in refused.value.one_line()


def test_no_proxy_is_asked_for_an_agent_on_this_machine() -> None:
    for url in ("ws://127.0.0.1/", "ws://[::1]:8/", "ws://localhost/", "ws://agent.localhost:1/"):
        assert is_loopback(url)
    assert not is_loopback("ws://a.b/")


def test_what_others_say_is_shown_on_one_line_without_control_characters() -> None:
    assert one_line("a\x1b[2Jb\r\nc\u2028d\x9be") == "a [2Jb c d e"
    assert len(one_line("x" * 1000)) == 200

"""Whatever pieces an agent sends its sound in, it is played whole and in order, and each mark at its place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.pipeline.twilio_messages import Connected, Dtmf, Mark, Media, Message, Start, Stop, pack, parse
from callm_voice.pipeline.twilio_stream import SAMPLES_PER_FRAME, Playout

pytestmark = pytest.mark.property
SIZES = st.integers(0, 700)
STEPS = st.lists(st.one_of(SIZES, st.just("mark"), st.just("tick")), max_size=60)


@settings(deadline=None)
@given(STEPS)
def test_every_sample_is_played_once_in_order_and_marks_stand_where_they_were_put(steps: list[int | str]) -> None:
    playout = Playout()
    put, marks, played = 0, 0, np.zeros(0, np.int16)
    due: dict[str, int] = {}
    for step in [*steps, *["tick"] * (sum(s for s in steps if isinstance(s, int)) // SAMPLES_PER_FRAME + 3)]:
        if isinstance(step, int):
            playout.put(np.arange(put + 1, put + step + 1, dtype=np.int16))
            put += step
        elif step == "mark":
            marks += 1
            due[f"m{marks}"] = put
            playout.mark(f"m{marks}")
        else:
            before = played.size
            frame, names = playout.pull()
            if frame is not None:
                sounding = frame[frame != 0]
                assert not frame[sounding.size :].any(), "silence stands behind the sound alone"
                played = np.concatenate([played, sounding])
            for name in names:
                assert before - SAMPLES_PER_FRAME <= due.pop(name) <= played.size
    assert played.tolist() == list(range(1, put + 1))
    assert due == {}
    assert (playout.queued_samples, playout.marks) == (0, 0)


TEXT = st.text(max_size=40)
NUMBER = st.integers(0, 2**63 - 1)
MESSAGES = st.one_of(
    st.builds(Connected, TEXT, TEXT),
    st.builds(Start, TEXT, TEXT, TEXT, NUMBER, st.dictionaries(TEXT, TEXT, max_size=3)),
    st.builds(Media, TEXT, st.binary(max_size=300).filter(lambda b: b[:4] != b"RIFF")),
    st.builds(Media, TEXT, st.binary(max_size=300).filter(lambda b: b[:4] != b"RIFF"), NUMBER, NUMBER, NUMBER),
    st.builds(Mark, TEXT, TEXT, st.none() | NUMBER),
    st.builds(Dtmf, TEXT, TEXT, st.none() | NUMBER),
    st.builds(Stop, TEXT, TEXT, TEXT, NUMBER),
)


@settings(deadline=None)
@given(MESSAGES)
def test_reading_undoes_writing(message: Message) -> None:
    assert parse(pack(message)) == message

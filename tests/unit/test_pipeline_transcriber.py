"""Transcription begun in a pause: what is used, what is thrown away, and that never two decodings run at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import EngineError
from callm_voice.core.events import EventLog, SpeculationDropped
from callm_voice.core.record import EngineInfo
from callm_voice.pipeline.transcriber import Segment, Transcriber
from callm_voice.speech.engines import Pcm, Transcript

pytestmark = pytest.mark.unit
RATE_HZ = 8000
LIMIT_S = 5


class GatedStt:
    """Says how many samples it got; waits for its gate; fails on a segment of one sample."""

    info = EngineInfo(engine="test")

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.lengths: list[int] = []
        self.running = self.most_running = 0

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.lengths.append(pcm.size)
        self.entered.release()
        assert self.gate.wait(LIMIT_S)
        self.running -= 1
        if pcm.size == 1:
            raise EngineError("one sample is no speech", stage="stt")
        return Transcript(f"{pcm.size} samples")


class Bench:
    def __init__(self) -> None:
        self.clock = RealClock()
        self.log = EventLog(self.clock)
        self.log.start_line(self.clock.now_s())
        self.stt = GatedStt()
        self.transcriber = Transcriber(self.stt, clock=self.clock, log=self.log)

    async def begun(self) -> None:
        """Wait until one more decoding has begun."""
        assert await asyncio.to_thread(self.stt.entered.acquire, timeout=LIMIT_S)

    async def settled(self) -> None:
        """Wait until no task of the transcriber's is left."""
        if tasks := set(self.transcriber._tasks.values()):
            _, pending = await asyncio.wait(tasks, timeout=LIMIT_S)
            assert not pending


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.stt.gate.set()
    made.clock.close()


def segment(samples: int, *, turn_id: int = 1, start_ms: float = 0.0) -> Segment:
    pcm = np.arange(samples, dtype=np.int16)
    return Segment(turn_id, pcm, RATE_HZ, start_ms, start_ms + samples * 1000 / RATE_HZ)


async def test_what_was_begun_in_the_pause_is_used_at_the_endpoint(bench: Bench) -> None:
    bench.transcriber.speculate(segment(800))
    await bench.begun()
    bench.stt.gate.set()
    decoded = await bench.transcriber.transcribe(segment(800))
    assert (decoded.transcript.text, decoded.speculative) == ("800 samples", True)
    assert bench.stt.lengths == [800]
    assert bench.transcriber.work == {"speculations": 1, "used": 1, "dropped": 0, "wasted_ms": 0}
    assert bench.log.of(SpeculationDropped) == []


async def test_a_finished_one_waits_for_the_endpoint(bench: Bench) -> None:
    bench.stt.gate.set()
    bench.transcriber.speculate(segment(800))
    await bench.settled()
    assert (await bench.transcriber.transcribe(segment(800))).speculative
    assert bench.stt.lengths == [800]


async def test_the_silence_that_came_behind_it_makes_no_difference(bench: Bench) -> None:
    bench.stt.gate.set()
    bench.transcriber.speculate(segment(800))
    assert (await bench.transcriber.transcribe(segment(960))).transcript.text == "800 samples"


@pytest.mark.parametrize("other", [segment(640), segment(800, start_ms=20), segment(800, turn_id=2)])
async def test_other_audio_is_decoded_afresh(bench: Bench, other: Segment) -> None:
    bench.stt.gate.set()
    bench.transcriber.speculate(segment(800))
    await bench.settled()
    decoded = await bench.transcriber.transcribe(other)
    assert (decoded.transcript.text, decoded.speculative) == (f"{other.pcm.size} samples", False)
    assert len(bench.log.of(SpeculationDropped)) == 1


async def test_speech_that_resumes_throws_the_result_away_and_the_waste_is_counted(bench: Bench) -> None:
    bench.transcriber.speculate(segment(400))
    await bench.begun()
    bench.transcriber.drop()
    assert bench.log.of(SpeculationDropped) == []  # it still runs
    bench.stt.gate.set()
    decoded = await bench.transcriber.transcribe(segment(800))
    assert (decoded.transcript.text, decoded.speculative) == ("800 samples", False)
    (dropped,) = bench.log.of(SpeculationDropped)
    assert dropped.wasted_ms > 0
    assert dropped.started_ms is not None
    assert bench.transcriber.work["wasted_ms"] == dropped.wasted_ms


async def test_one_that_is_finished_is_dropped_at_once(bench: Bench) -> None:
    bench.stt.gate.set()
    bench.transcriber.speculate(segment(400))
    await bench.settled()
    bench.transcriber.drop()
    assert [d.wasted_ms > 0 for d in bench.log.of(SpeculationDropped)] == [True]


async def test_an_obsolete_one_that_waits_for_another_never_begins(bench: Bench) -> None:
    bench.transcriber.speculate(segment(300))
    await bench.begun()
    for samples in (400, 500, 600):
        bench.transcriber.speculate(segment(samples))
    bench.stt.gate.set()
    decoded = await bench.transcriber.transcribe(segment(600))
    assert decoded.transcript.text == "600 samples"
    assert bench.stt.lengths == [300, 600]
    await bench.settled()
    never_began = [d for d in bench.log.of(SpeculationDropped) if d.started_ms is None]
    assert [d.wasted_ms for d in never_began] == [0, 0]


async def test_never_two_decodings_at_once(bench: Bench) -> None:
    bench.transcriber.speculate(segment(300))
    await bench.begun()
    bench.transcriber.drop()
    asked = asyncio.create_task(bench.transcriber.transcribe(segment(800)))
    bench.transcriber.speculate(segment(200, turn_id=2))
    bench.stt.gate.set()
    await asked
    await bench.settled()
    assert bench.stt.most_running == 1


async def test_an_engine_that_fails_ahead_fails_at_the_endpoint(bench: Bench) -> None:
    bench.stt.gate.set()
    bench.transcriber.speculate(segment(1))
    with pytest.raises(EngineError, match="one sample"):
        await bench.transcriber.transcribe(segment(1))


async def test_closing_leaves_no_task(bench: Bench) -> None:
    bench.transcriber.speculate(segment(300))
    await bench.begun()
    await bench.transcriber.aclose()
    assert not [t for t in asyncio.all_tasks() if (t.get_name() or "").startswith("stt-ahead")]

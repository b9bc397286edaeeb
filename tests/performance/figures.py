"""The figures of `make perf`: their names, their bars, and what exactly each one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """One figure. `bar` None: reported, not judged."""

    name: str
    unit: str
    bar: float | None
    better: Literal["higher", "lower"]
    what: str

    def holds(self, value: float) -> bool | None:
        """Whether a value meets the bar; None without one."""
        if self.bar is None:
            return None
        return value >= self.bar if self.better == "higher" else value <= self.bar

    @property
    def bar_text(self) -> str:
        sign = {"higher": "≥", "lower": "≤"}[self.better]
        return "reported" if self.bar is None else f"{sign} {self.bar:g}"


FIGURES = (
    Figure(
        "fast_speedup_stub", "×", 40, "higher",
        "Length of the call on the line's clock over the wall time from the opening of the line to its end, C5-H1 "
        "at the fast pace with scripted engines without delays and an oracle that answers at once (its server is "
        "another process, so its real latency counts). Median of three calls. The start of Python, imports and "
        "the rehearsal of the caller's lines come before the line opens and are not in it.",
    ),
    Figure(
        "fast_speedup_cpu", "×", 5, "higher",
        "The same with `pipelines/cpu.yaml` (Piper, Whisper base) and the oracle as it comes (250 ms to the first "
        "token, 60 tokens a second). One call, C5-H1.",
    ),
    Figure(
        "fast_model_share", "", 0.7, "higher",
        "Of that wall time, the share during which a model (recogniser, voice, language model) was at work. "
        "Overlapping work is counted once. At the fast pace time is skipped only while nothing is in flight, so "
        "all of it is on the critical path. The rest is our own cost per 20 ms tick.",
    ),
    Figure(
        "pace_v2v_delta_ms", "ms", 20, "lower",
        "Distance between the medians of voice to voice at the real and the fast pace over the same calls, of two "
        "kinds of engines the larger: scripted ones (the recogniser takes a set 120 ms, the oracle 250 ms; three "
        "calls), and `pipelines/cpu.yaml` (nine calls: an easy, a medium and a hard one of each desk). The "
        "transcripts (said, heard, played) and the verdicts of both paces must be equal, or there is no figure.",
    ),
    Figure(
        "pace_v2v_turn_delta_ms", "ms", None, "lower",
        "From the same calls: the median over the turns of the difference between a turn at the real and at the fast "
        "pace.",
    ),
    Figure(
        "ttft_probe_error_ms_p95", "ms", 5, "lower",
        "95th percentile of the distance between our TTFT and that of the oracle server's own log: `callm-voice "
        "calibrate`.",
    ),
    Figure(
        "v2v_probe_error_ms_p95", "ms", 20, "lower",
        "95th percentile of the distance between our voice to voice and that of an independent detector on the "
        "recording: `callm-voice calibrate`.",
    ),
    Figure(
        "harness_overhead_ms_p95",
        "ms",
        15,
        "lower",
        "What is left of voice to voice without the spans `vad`, `endpointing`, `transcription`, `ttft`, "
        "`tools_and_handoffs`, `first_sentence` and `tts`, without packetisation (synthesised sound leaves "
        "with the line's next tick, 0 to 20 ms later; only this real wait is taken off, so a tick that was "
        "missed counts with 20 ms) and without the silence that the synthesis begins with. So: the span "
        "`request`, plus the time from the tick after the first synthesised sound to the first audible sample "
        "on the wire, in which the delay of the line's filter is. 95th percentile over all turns of the "
        "scripted calls of `pace_v2v_delta_ms` at the real pace, whose voice begins without silence, so that "
        "nothing has to be guessed.",
    ),
    Figure(
        "baseline_v2v_ratio", "", 0.75, "lower",
        "Our median voice to voice over that of a stock Pipecat pipeline: its own Whisper, Piper and OpenAI "
        "services, its default turn strategy and its Silero VAD. The same weights, model server and caller's "
        "samples, the same line without degradation at 16 kHz (Pipecat's Whisper service takes nothing else), one "
        "after the other in the same run; both measured from the samples on the line. Only utterances that both "
        "answered count.",
    ),
    Figure(
        "concurrent_real_calls", "calls", 30, "higher",
        "The most calls with scripted engines that ran at the real pace in one process (one event loop) while the "
        "P99 of tick lateness stayed under 10 ms in every one of them and none broke. The number is raised step "
        "by step; the first 40 s of C5-H1, started 0.4 s apart, one oracle server for all.",
    ),
    Figure(
        "run_workers_scaling", "", 0.9, "higher",
        "Calls a second and worker with two workers over that with one: C1-E1 of the legal pack by voice, scripted "
        "engines, fast pace, an oracle that answers at once, twelve calls of each warm worker, rounds of one and of "
        "two taking turns; medians of three rounds. Each worker has its oracle's server beside it.",
    ),
    Figure(
        "rss_mb_per_extra_call", "MB", None, "lower",
        "Peak resident memory of the process with that many calls, less that of one with a single call, by the "
        "number of further calls. The recording of a call is in memory: 1.9 MB a minute.",
    ),
    Figure(
        "line_worst_cpu_share", "", 0.02, "lower",
        "Processor time of one direction of the line profile `worst` (hands-free in a café, AMR 4.75 and G.711, "
        "losses, jitter) over the time of its sound: a minute, half of it speech, the echo of the other side "
        "included. The least of five runs, second by second.",
    ),
    Figure(
        "site_1000_calls_s", "s", 60, "lower",
        "`callm-voice report` over a run of 1,000 calls of 20 s with sound, made up by the tests' builder of runs: "
        "fifteen tasks, two models, two lines, every way of failing among them.",
    ),
    Figure("site_largest_page_kb", "kB", 300, "lower", "The largest page of that site, without sound."),
)  # fmt: skip
BY_NAME = {figure.name: figure for figure in FIGURES}

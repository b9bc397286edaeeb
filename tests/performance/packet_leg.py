"""Voice to voice over the packet leg against the leg in the process, turn by turn, in one run.

    python tests/performance/packet_leg.py [--calls 3] [--line pstn-g711u]

The legs take turns, so whatever else the machine does is shared. The oracle plays the model and the engines are
scripted, so the agent's own time is the same in both. Prints the table of docs/packet-leg.md; a pair of turns is left
out if either call was not valid.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TASK = "customer_support/C1-E1"
ORACLE = "oracle?ttft_ms=250&tokens_per_s=60"
LEGS = ("process", "packets")


def call(leg: str, line: str, trial: int, out: Path) -> dict[str, Any]:
    """One call's record."""
    ran = subprocess.run(
        [
            sys.executable, "-m", "callm_voice", "call", "--task", TASK, "--model", ORACLE, "--pipeline", "scripted",
            "--line", line, "--leg", leg, "--trial", str(trial), "--json", "--out", str(out / leg),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not ran.stdout:
        raise SystemExit(ran.stderr)
    return json.loads(ran.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3, help="per leg")
    parser.add_argument("--line", default="pstn-g711u")
    chosen = parser.parse_args()
    by_leg: dict[str, dict[tuple[int, int], float]] = {leg: {} for leg in LEGS}
    delays: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for trial in range(1, chosen.calls + 1):
            for leg in LEGS:
                record = call(leg, chosen.line, trial, Path(folder))
                latency = record["latency"]
                print(f"{leg} {trial}: {record['outcome']['status']}, valid {latency['valid']}", file=sys.stderr)
                if not latency["valid"]:
                    print(f"  {latency['invalid_reason']}", file=sys.stderr)
                    continue
                delays[leg] = latency["line"]["codec_one_way_ms"]
                by_leg[leg] |= {(trial, turn["turn_id"]): turn["v2v_ms"] for turn in latency["turns"]}
    pairs = sorted(by_leg["process"].keys() & by_leg["packets"].keys())
    if not pairs:
        raise SystemExit("no pair of turns is valid: the machine is too busy")
    process, packets = ([by_leg[leg][pair] for pair in pairs] for leg in LEGS)
    deltas = [b - a for a, b in zip(process, packets, strict=True)]
    print(f"line {chosen.line}, {len(pairs)} turns of {chosen.calls} calls a leg\n")
    print("| leg | V2V median, ms | one-way delay of the line, ms |\n|---|---:|---:|")
    for leg, values in (("process", process), ("packets", packets)):
        print(f"| {leg} | {statistics.median(values):,.0f} | {delays[leg]:.1f} |")
    ratio = statistics.median(packets) / statistics.median(process)
    print(f"\ndelta per turn: median {statistics.median(deltas):+.1f} ms; ratio of medians {ratio:.3f}")


if __name__ == "__main__":
    main()

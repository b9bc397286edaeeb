"""llama.cpp's server (xllamacpp) in a process of its own on loopback: one slot per role.

    python -m callm_voice.llm.embedded_server --weights FILE.gguf --slots 4 --context 8192

It prints one JSON line with its port when the model is loaded, and ends when its stdin ends or its parent is gone.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from callm_voice.llm.child import take_stdout, wait_for_parent_end

ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE", "GGML_NO_BACKTRACE": "1"}
"""Set before the library is loaded. OpenMP's threads must sleep at their barriers: while they spin, two of them on two
cores collapse as soon as anything else runs (measured: 16 tokens of prompt in 2.1 s instead of 0.2 s)."""


def serve(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Load the model and start the server; the server (it lives as long as the object) and the ready line."""
    import xllamacpp  # heavy, and only in the `cpu` extra

    params = xllamacpp.CommonParams()
    params.model.path = str(options.weights)
    params.n_parallel = options.slots
    params.n_ctx = options.context * options.slots
    params.kv_unified = False
    params.n_gpu_layers = 0
    params.fit_params = False
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads_batch or os.cpu_count() or 1
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.endpoint_slots = True
    params.slot_save_path = f"{options.slot_dir}{os.sep}"
    params.cache_prompt = True
    params.cache_ram_mib = 0  # every role keeps its own slot; nothing is moved aside
    params.cache_idle_slots = False
    params.ui = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    ready = {
        "ready": True,
        "port": urlsplit(server.listening_address).port,
        "server": f"xllamacpp {xllamacpp.__version__}",
        "threads": options.threads,
        "threads_batch": params.cpuparams_batch.n_threads,
    }
    return server, ready


def main(arguments: list[str] | None = None) -> int:
    """Run until stdin ends."""
    parser = argparse.ArgumentParser(prog="embedded_server", description="llama.cpp server for one GGUF file.")
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--context", type=int, default=8192, help="tokens of each slot")
    parser.add_argument("--threads", type=int, default=1, help="for decoding")
    parser.add_argument("--threads-batch", type=int, default=0, help="for reading prompts; 0: all cores")
    parser.add_argument("--slot-dir", type=Path, required=True, help="folder that slots are saved to")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(arguments)
    if not options.weights.is_file():
        parser.exit(2, f"{options.weights}: no such file\n")
    announce = take_stdout()
    try:
        server, ready = serve(options)
    except ImportError as error:
        parser.exit(3, f"xllamacpp cannot be loaded: {error}\n")
    except (RuntimeError, ValueError, OSError) as error:
        parser.exit(3, f"{options.weights}: the model cannot be loaded: {error}\n")
    announce(ready)
    wait_for_parent_end()
    del server
    os._exit(0)  # an answer may still be in the making; nobody waits for it


if __name__ == "__main__":
    raise SystemExit(main())

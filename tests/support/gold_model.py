"""An OpenAI-compatible model in a thread of the test that works off a list of tool calls, whatever is said to it.

A request with the results of k calls is answered with the next call, and when there are no more calls, with a sentence.
So a bot with any ears does the work of a task, if it passes tool calls on and offers the tools.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

SENTENCE = "All of it is done. Is there anything else?"


@dataclass
class GoldModel:
    """A running server."""

    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def has_ended(message: dict[str, Any]) -> bool:
    """Whether a tool's result is one; Pipecat puts these words where there is none, as when the caller cut it off."""
    return not any(word in str(message["content"]) for word in ("IN_PROGRESS", "CANCELLED"))


@contextmanager
def gold_model(calls: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[GoldModel]:
    """Runs while the block does."""
    model = GoldModel()
    failures: list[BaseException] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Quiet."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(body)
            done = len({m["tool_call_id"] for m in body["messages"] if m["role"] == "tool" and has_ended(m)})
            delta = self._call(done) if done < len(calls) else {"content": SENTENCE}
            reason = "tool_calls" if "tool_calls" in delta else "stop"
            chunks = [
                {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            ]
            envelope = {"id": "g", "object": "chat.completion.chunk", "created": 0, "model": "gold"}
            text = "".join(f"data: {json.dumps({**envelope, **chunk})}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def _call(self, number: int) -> dict[str, Any]:
            name, arguments = calls[number]
            function = {"name": name, "arguments": json.dumps(arguments)}
            return {"tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A bot that is interrupted hangs up on its model; anything else is told at the end."""
            error = sys.exception()
            if error is not None and not isinstance(error, ConnectionError):
                failures.append(error)

    with Server(("127.0.0.1", 0), Handler) as server:
        model.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="gold-model", daemon=True)
        thread.start()
        yield model
        server.shutdown()
        thread.join(timeout=5)
    if failures:
        raise failures[0]

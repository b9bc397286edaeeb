"""A model server in a thread of the test that says one sentence to everything: calls with it fail, and always alike."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

SENTENCE = "I am sorry, I cannot help you with that today."


@dataclass
class Parrot:
    """A running server. Change its fields while it runs.

    Args:
        refuse: called for each chat request; a status and headers to refuse it with, or None to answer.
    """

    port: int = 0
    refuse: Callable[[], tuple[int, dict[str, str]] | None] = lambda: None
    sentence: str = SENTENCE
    silent: bool = False
    """Take requests and never answer."""
    keys: list[str] = field(default_factory=list)
    """Authorization headers of the requests."""
    chats: int = 0

    @property
    def model(self) -> str:
        return f"openai:http://127.0.0.1:{self.port}/v1#parrot"


@contextmanager
def parrot_server() -> Iterator[Parrot]:
    """Runs while the block does."""
    parrot = Parrot()
    failures: list[BaseException] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Quiet."""

        def do_GET(self) -> None:
            self._plain(200, {"object": "list", "data": []})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            parrot.chats += 1
            parrot.keys.append(self.headers.get("Authorization", ""))
            refused = parrot.refuse()
            if parrot.silent:
                self.rfile.read(1)  # until the client leaves
                self.close_connection = True
            elif refused is not None:
                self._plain(refused[0], {"error": {"message": "not now"}}, refused[1])
            else:
                self._answer()

        def _plain(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _answer(self) -> None:
            usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
                     "prompt_tokens_details": {"cached_tokens": 0}}  # fmt: skip
            chunks: list[Any] = [
                {"choices": [{"index": 0, "delta": {"content": parrot.sentence}, "finish_reason": None}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                {"choices": [], "usage": usage},
            ]
            envelope = {"id": "p", "object": "chat.completion.chunk", "created": 0, "model": "parrot"}
            body = "".join(f"data: {json.dumps({**envelope, **chunk})}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that was killed is what these tests are about; anything else is told at the end."""
            error = sys.exception()
            if error is not None and not isinstance(error, ConnectionError):
                failures.append(error)

    with Server(("127.0.0.1", 0), Handler) as server:
        parrot.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="parrot", daemon=True)
        thread.start()
        yield parrot
        server.shutdown()
        thread.join(timeout=5)
    if failures:
        raise failures[0]

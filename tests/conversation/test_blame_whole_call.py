"""A whole call whose recogniser mishears a number is told from one whose model gets it wrong."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.cli import callm

pytestmark = pytest.mark.conversation
RIGHT = "212-555-0141"
PIPELINE = Path(__file__).parents[2] / "pipelines" / "scripted.yaml"
ASK = "Can I have your full name and your mobile number?"


class Clerk(BaseHTTPRequestHandler):
    """A model that asks for name and number and looks them up as it heard them, or with a digit of its own."""

    protocol_version = "HTTP/1.1"
    deaf = False
    """It gets the last digit wrong whatever it heard."""

    def do_GET(self) -> None:
        self._send(json.dumps({"data": [{"id": "clerk"}]}), "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in self._chunks(body)) + "data: [DONE]\n\n"
        self._send(text, "text/event-stream")

    def _send(self, text: str, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _chunks(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """One delta with the whole answer, then the end with token counts."""
        delta = self._answer(body["messages"])
        yield {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]}
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}

    def _answer(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        heard = " ".join(str(m["content"]) for m in messages if m["role"] == "user")
        number = re.search(r"212-555-\d{4}", heard)
        if any(m["role"] == "tool" for m in messages):
            return {"content": "I can't find that. Goodbye."}
        if number is None:
            return {"content": ASK}
        mobile = number[0][:-1] + "9" if self.deaf else number[0]
        args = json.dumps({"first_name": "Nora", "last_name": "Field", "mobile": mobile})
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "find_customer", "arguments": args}}
        return {"tool_calls": [call]}

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(*, deaf: bool) -> Iterator[str]:
    """The base URL of the model's server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Clerk,), {"deaf": deaf}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def blame(tmp_path: Path, *, misheard: str | None, deaf: bool, price: str = "") -> dict[str, Any]:
    """What `score` says about one call of a new pack over the phone. `price`: of the model, as YAML."""
    assert callm("packs", "new", "bike_shop", "--into", str(tmp_path)).code == 0
    errors = f"\n  replace: {{'{RIGHT}': '{misheard}'}}" if misheard else ""
    pipeline = tmp_path / "mishears.yaml"
    text = PIPELINE.read_text("utf-8").replace("id: scripted", "id: mishears")
    text = text.replace("stt:\n  engine: scripted", f"stt:\n  engine: scripted{errors}")
    with serving(deaf=deaf) as url:
        spec = f"{{kind: openai, base_url: '{url}', model: clerk, price: {price or 'null'}}}"
        pipeline.write_text(f"{text}models:\n  clerk: {spec}\n", encoding="utf-8")
        called = callm(
            "call", "--task", f"{tmp_path / 'bike_shop'}/C1-E1", "--model", "clerk", "--pipeline", str(pipeline),
            "--pace", "fast", "--json", "--out", str(tmp_path / "run"),
        )  # fmt: skip
    assert called.code == 1, called.err
    gold = json.loads(next((tmp_path / "run").rglob("gold.json")).read_text("utf-8"))
    assert gold["now"], "the pack's date, for what the caller says of days"
    scored = callm("score", str(tmp_path / "run"), "--json")
    assert scored.code == 0, scored.err
    (found,) = scored.json["blame"]
    assert found["failed"] == 1
    usage = called.json["usage"]["inferences"]
    return {**found, "cost_usd": scored.json["models"][0]["cost_usd"], "inferences": usage}


def test_a_number_that_was_misheard_is_the_recognisers(tmp_path: Path) -> None:
    found = blame(tmp_path, misheard="212-555-0148", deaf=False)
    assert found["calls"] == {"recogniser": 1, "model": 0, "caller": 0, "unclear": 0}
    assert "0141" in found["words"][0]["said"]
    assert "0148" in found["words"][0]["heard"]
    assert found["cost_usd"] is None


def test_a_number_that_was_heard_and_used_wrongly_is_the_models(tmp_path: Path) -> None:
    price = "{input_usd: 2, cached_usd: 1, output_usd: 8}"
    found = blame(tmp_path, misheard=None, deaf=True, price=price)
    assert found["calls"] == {"recogniser": 0, "model": 1, "caller": 0, "unclear": 0}
    assert found["detail"][0]["because"] == "the mobile was heard, and it used another"
    assert found["cost_usd"] == pytest.approx(found["inferences"] * (60 * 2 + 40 * 1 + 10 * 8) / 1e6)

"""Calling in over HTTP, with a process of the test's own in the place of the worker: what is taken, what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from support.offers import offer

from callm_voice.audio.files import write_sound
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.person_calls import PersonCalls
from callm_voice.web.app import create_app
from callm_voice.web.settings import ServeSettings

pytestmark = pytest.mark.unit

CALLS = "/api/call-in/calls"
ID = "0123456789abcdef-one"
HERE = {"host": "127.0.0.1"}
"""The test client gives websockets another name than its base address."""
JSON = {"content-type": "application/json"}
WORKER = """
import json, os, sys
order = json.loads(sys.stdin.readline())
def say(**message):
    print(json.dumps(message), flush=True)
say(answer="the answer")
say(open=100)
say(event={"type": "call_started", "t_ms": 0, "task": order["call"]["task"]})
say(progress="told " + json.loads(sys.stdin.readline())["hang_up"])
folder = order["call"]["run_dir"] + "/calls/healthcare/C5-H1/oracle/pstn-g711u+person/t1"
say(done={"folder": folder, "status": "fail", "v2v_ms": {}})
"""


class Server:
    """A client of a server, and what the server would start."""

    def __init__(self, run: Path, client: TestClient, calls: PersonCalls) -> None:
        self.run, self.client, self.calls = run, client, calls

    def order(self, **fields: Any) -> dict[str, Any]:
        given = {
            "id": ID,
            "pack": "healthcare",
            "task": "C5-H1",
            "model": "oracle",
            "line": "pstn-g711u",
            "sdp": offer(),
        }
        return {**given, **fields}

    def refused(self, status: int, **fields: Any) -> str:
        """The one sentence with which an order is refused; nothing is left behind."""
        return self.refused_body(status, json.dumps(self.order(**fields)))

    def refused_body(self, status: int, body: str | bytes, kind: str = "application/json") -> str:
        answer = self.client.post(CALLS, content=body, headers={"content-type": kind})
        assert answer.status_code == status, answer.text
        assert self.calls.running == []
        assert self.calls.get(ID) is None
        assert not self.run.exists()
        said = answer.json()["detail"]
        assert isinstance(said, str)
        assert said.strip()
        assert "\n" not in said
        return said


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    run = tmp_path / "run"
    app = create_app(ServeSettings(run))
    calls = app.state.person_calls = PersonCalls(command=(sys.executable, "-c", WORKER))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield Server(run, client, calls)


def all_of(server: Server) -> list[dict[str, Any]]:
    """Every message of the call, to its end; the call is hung up once its line is open."""
    told: list[dict[str, Any]] = []
    with (
        suppress(WebSocketDisconnect),
        server.client.websocket_connect(f"{CALLS}/{ID}/events", headers=HERE) as socket,
    ):
        while True:
            told.append(socket.receive_json())
            if "open" in told[-1]:
                assert server.client.post(f"{CALLS}/{ID}/hang-up").status_code == 204
    return told


def test_an_offer_is_answered_and_the_call_tells_of_itself_to_its_end(server: Server) -> None:
    answer = server.client.post(CALLS, json=server.order())
    assert (answer.status_code, answer.json()) == (201, {"sdp": "the answer"})
    told = all_of(server)
    assert [next(iter(message)) for message in told] == ["open", "event", "progress", "done"]
    assert told[1]["event"]["task"] == "healthcare/C5-H1"
    assert told[2] == {"progress": "told the caller hung up"}


def test_the_page_is_told_where_the_call_stands_and_no_path_of_this_machine(server: Server) -> None:
    server.client.post(CALLS, json=server.order())
    told = all_of(server)
    assert told[-1]["done"]["folder"] == "calls/healthcare/C5-H1/oracle/pstn-g711u+person/t1"
    assert str(server.run) not in json.dumps(told)


def test_the_recording_can_be_fetched_once_there_is_one(server: Server) -> None:
    server.client.post(CALLS, json=server.order())
    address = f"{CALLS}/{ID}/call.flac"
    assert server.client.get(address).status_code == 404
    all_of(server)
    assert server.client.get(address).status_code == 404
    folder = server.run / "calls/healthcare/C5-H1/oracle/pstn-g711u+person/t1"
    folder.mkdir(parents=True)
    write_sound(folder / "call.flac", np.zeros((1600, 2), np.int16), 8000)
    answer = server.client.get(address)
    assert (answer.status_code, answer.content[:4]) == (200, b"fLaC")


def test_a_call_without_a_task_is_one_too(server: Server) -> None:
    answer = server.client.post(CALLS, json=server.order(task=None, model="qwen2.5-coder-0.5b"))
    assert answer.status_code == 201
    assert all_of(server)[1]["event"]["task"] == "healthcare/no-task"


def test_a_second_offer_for_the_same_call_is_refused(server: Server) -> None:
    assert server.client.post(CALLS, json=server.order()).status_code == 201
    again = server.client.post(CALLS, json=server.order())
    assert again.status_code == 409
    assert "has had its offer" in again.json()["detail"]
    all_of(server)


def test_more_calls_than_may_be_at_once_are_refused(server: Server) -> None:
    for n in range(2):
        assert server.client.post(CALLS, json=server.order(id=f"{ID}-{n}")).status_code == 201
    third = server.client.post(CALLS, json=server.order(id=f"{ID}-3"))
    assert third.status_code == 429
    assert server.calls.get(f"{ID}-3") is None


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("pack", "atlantis", "no pack named"),
        ("pack", "../packs/healthcare", "no pack named"),
        ("line", "tin-can", "no line profile named"),
        ("line", "/etc/passwd", "no line profile named"),
        ("line", "text", "no line profile named"),
        ("pipeline", "none", "no pipeline named"),
        ("model", "hal-9000", "no model named"),
        ("model", "openai:http://127.0.0.1:1/v1#m", "no model named"),
        ("model", "oracle?ttft_ms=-5", "ttft_ms"),
        ("task", "C9-H9", "no task named"),
        ("task", "../../etc", "no task named"),
        ("task", None, "choose a task"),
    ],
)
def test_a_name_that_is_not_known_is_refused(server: Server, field: str, value: str | None, says: str) -> None:
    assert says in server.refused(422, **{field: value})


@pytest.mark.parametrize(
    ("sdp", "says"),
    [
        ("", "empty"),
        ("hello", "expected one audio stream"),
        ("v=0\r\nm=audio nonsense\r\n", "session description"),
        (offer(kind="video"), "expected one audio stream"),
        (offer(codecs="97"), "no codec in common"),
        (offer(direction="recvonly"), "both ways"),
        (offer().replace("a=fingerprint", "a=x-fingerprint"), "fingerprint"),
        (offer().replace("a=ice-pwd", "a=x-ice-pwd"), "ICE"),
        (offer(extra="a=x:" + "x" * 70_000), "at most"),
    ],
)
def test_an_offer_that_cannot_be_taken_is_refused(server: Server, sdp: str, says: str) -> None:
    assert says in server.refused(422, sdp=sdp)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"id": "short"}, "id"), ({"id": "../../../../../../etc"}, "id"), ({"sdp": 7}, "sdp"), ({"pack": ""}, "pack"),
        ({"model": "m" * 500}, "model"), ({"more": 1}, "more"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_named(server: Server, fields: dict[str, Any], says: str) -> None:
    assert server.refused(422, **fields).startswith(says)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"id": NaN'])
def test_a_body_that_is_no_json_is_refused(server: Server, body: bytes) -> None:
    assert "JSON" in server.refused_body(400, body)


def test_a_field_named_by_half_a_surrogate_pair_is_refused(server: Server) -> None:
    answer = server.client.post(CALLS, content=json.dumps(server.order(**{"\ud800": 1})), headers=JSON)
    assert answer.status_code in (400, 422)
    assert server.calls.get(ID) is None


@pytest.mark.parametrize("body", ["[]", "null", '"call"', "NaN"])
def test_a_body_that_is_no_order_is_refused(server: Server, body: str) -> None:
    server.refused_body(422, body)


def test_a_body_of_another_type_is_refused(server: Server) -> None:
    assert "application/json" in server.refused_body(415, "{}", kind="text/plain")


def test_a_body_that_is_too_large_is_refused_before_it_is_read_whole(server: Server) -> None:
    assert "too large" in server.refused_body(413, b" " * 200_000)


def test_what_is_asked_of_a_call_that_is_not_there_is_refused(server: Server) -> None:
    assert server.client.post(f"{CALLS}/{ID}/hang-up").status_code == 404
    assert server.client.get(f"{CALLS}/{ID}/call.flac").status_code == 404
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        server.client.websocket_connect(f"{CALLS}/{ID}/events", headers=HERE),
    ):
        pass
    assert refused.value.status_code == 404


def test_another_site_cannot_start_a_call(server: Server) -> None:
    answer = server.client.post(CALLS, json=server.order(), headers={"origin": "https://elsewhere.example"})
    assert answer.status_code == 403
    assert server.calls.get(ID) is None


def test_the_choices_are_what_is_known_here(server: Server) -> None:
    told = server.client.get("/api/call-in/choices").json()
    assert {"healthcare", "legal", "customer_support"} <= {pack["id"] for pack in told["packs"]}
    assert "pstn-g711u" in {line["id"] for line in told["lines"]}
    models = {m["id"]: m["needs_task"] for p in told["pipelines"] if p["id"] == "cpu" for m in p["models"]}
    assert models["oracle"] is True
    assert models["qwen2.5-coder-0.5b"] is False
    for kind, chosen in (("packs", "pack"), ("lines", "line"), ("pipelines", "pipeline")):
        assert told["defaults"][chosen] in {one["id"] for one in told[kind]}


def test_a_wrong_file_of_models_is_told_and_does_not_just_leave_nothing_to_choose(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text("models: 7\n", encoding="utf-8")
    monkeypatch.setenv("CALLM_VOICE_HOME", str(home))
    answer = server.client.get("/api/call-in/choices")
    assert answer.status_code == 404
    assert "models.yaml" in answer.json()["detail"]


def test_the_caller_of_a_task_is_given_the_brief_and_no_gold(server: Server) -> None:
    told = server.client.get("/api/call-in/choices/healthcare").json()
    task = next(one for one in told["tasks"] if one["id"] == "C5-H1")
    assert task["traits"]["full_name"] == "Maria Alvarez"
    assert task["script"]
    assert "gold" not in json.dumps(sorted(task))
    assert server.client.get("/api/call-in/choices/atlantis").status_code == 404


def test_the_page_asks_for_the_microphone_of_this_site_alone(server: Server) -> None:
    answer = server.client.get("/call-in")
    assert answer.status_code == 200
    assert answer.headers["permissions-policy"] == "microphone=(self)"
    assert "unsafe-inline" not in answer.headers["content-security-policy"]


def test_the_call_that_is_ordered_is_a_persons_in_the_served_run(server: Server) -> None:
    server.client.post(CALLS, json=server.order(pipeline="scripted"))
    call = server.calls.get(ID)
    assert call is not None
    assert call.spec == CallSpec(
        task="healthcare/C5-H1", model="oracle", pipeline="scripted", line="pstn-g711u", caller="person",
        run_dir=server.run.resolve(),
    )  # fmt: skip
    all_of(server)

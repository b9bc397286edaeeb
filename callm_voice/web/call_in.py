"""The routes by which a person calls in: the page, what can be chosen on it, and the calls (`bench/person_calls.py`).

The server relays the two session descriptions and what the call's process says. Sound never passes it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, HTTPException, Request, WebSocket
from fastapi.responses import FileResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from starlette.requests import ClientDisconnect

from callm_voice.bench.callspec import NO_TASK, CallSpec
from callm_voice.bench.person_calls import BusyError, PersonCall, PersonCalls, SecondOfferError
from callm_voice.core.errors import CallmError, UsageError
from callm_voice.core.record import PERSON
from callm_voice.core.runfolder import AUDIO_FILE
from callm_voice.line.profile import load_profile
from callm_voice.pipeline.rtc_sdp import RtcError, check_sdp, choose, codecs_at
from callm_voice.web.call_in_choices import check_choice, pack_choices, top_choices
from callm_voice.web.index import call_id
from callm_voice.web.live import CALL_IN, live_of
from callm_voice.web.pages import page
from callm_voice.web.sockets import refuse

MAX_BODY_BYTES = 128 * 1024
"""A browser's description has some 4 KiB."""
NO_STORE = {"cache-control": "no-store"}
Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class CallOrder(BaseModel):
    """What the page posts."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{16,64}$")]
    """Made by the page: hard to guess, and never used twice."""
    pack: Text
    task: Text | None = None
    """None: the person just talks, and nothing is expected."""
    model: Text
    line: Text
    pipeline: Text = "cpu"
    sdp: str
    """The browser's offer with all its candidates."""


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    app.state.person_calls = getattr(app.state, "person_calls", None) or PersonCalls()
    try:
        yield
    finally:
        await app.state.person_calls.close()


router = APIRouter(lifespan=_running)


@router.get(CALL_IN)
async def call_in(request: Request) -> Response:
    """The page."""
    answer = page(request, "call-in.html", no_task=NO_TASK)
    answer.headers["permissions-policy"] = "microphone=(self)"
    return answer


@router.get("/api/call-in/choices")
async def choices(request: Request) -> Response:
    """Packs, models, lines and pipelines."""
    return await _told(request, top_choices)


@router.get("/api/call-in/choices/{pack}")
async def choices_of_pack(request: Request, pack: str) -> Response:
    """A pack's tasks, with what the caller is given of each."""
    return await _told(request, pack_choices, pack)


async def _told(request: Request, what: Any, *args: str) -> Response:
    try:
        found = await live_of(request).clock.in_thread("load", what, *args)
    except CallmError as error:
        raise HTTPException(404, error.one_line()) from error
    return JSONResponse(found, headers=NO_STORE)


@router.post("/api/call-in/calls")
async def start(request: Request) -> Response:
    """Start a call: an offer in, the answer out."""
    order = await _order(request)
    live = live_of(request)
    try:
        spec = await live.clock.in_thread("load", _checked, order, request)
        sdp = await calls_of(request).start(order.id, spec, order.sdp)
    except SecondOfferError as error:
        raise HTTPException(409, error.one_line()) from error
    except BusyError as error:
        raise HTTPException(429, error.one_line()) from error
    except (UsageError, RtcError) as error:
        raise HTTPException(422, error.one_line()) from error
    except CallmError as error:
        raise HTTPException(503, error.one_line()) from error
    return JSONResponse({"sdp": sdp}, 201, headers=NO_STORE)


async def _order(request: Request) -> CallOrder:
    """The body, if it is an order."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "expected application/json")
    body = b""
    try:
        async for block in request.stream():
            body += block
            if len(body) > MAX_BODY_BYTES:
                raise HTTPException(413, f"the body is too large: at most {MAX_BODY_BYTES} bytes are read")
    except ClientDisconnect as error:
        raise HTTPException(400, "the body broke off") from error
    try:
        return CallOrder.model_validate(json.loads(body))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the body"
        raise HTTPException(422, f"{where}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the body is not valid JSON") from error


def _checked(order: CallOrder, request: Request) -> CallSpec:
    """The call, as far as it can be checked without a process of its own.

    Raises:
        UsageError: a name is not known.
        RtcError: the offer cannot be taken.
    """
    check_choice(pack=order.pack, task=order.task, model=order.model, line=order.line, pipeline=order.pipeline)
    choose(check_sdp(order.sdp), codecs_at(load_profile(order.line).rate_hz))
    return CallSpec(
        task=f"{order.pack}/{order.task or NO_TASK}",
        model=order.model,
        pipeline=order.pipeline,
        line=order.line,
        caller=PERSON,
        run_dir=live_of(request).settings.run.resolve(),
    )


@router.post("/api/call-in/calls/{call}/hang-up")
async def hang_up(request: Request, call: str) -> Response:
    """The person hangs up, or leaves the page."""
    _call(request, call)
    calls_of(request).hang_up(call, "the caller hung up")
    return Response(status_code=204)


@router.get("/api/call-in/calls/{call}/call.flac")
async def recording(request: Request, call: str) -> Response:
    """The recording of a call that is over."""
    folder = _call(request, call).folder
    if folder is None or not (folder / AUDIO_FILE).is_file():
        raise HTTPException(404, "there is no recording of this call")
    return FileResponse(folder / AUDIO_FILE, media_type="audio/flac", filename=AUDIO_FILE)


@router.websocket("/api/call-in/calls/{call}/events")
async def events(socket: WebSocket, call: str) -> None:
    """All that the call's process says, from the beginning, one JSON object a message."""
    found = calls_of(socket).get(call)
    if found is None:
        await refuse(socket, 404, "no such call")
        return
    await live_of(socket).sockets.feed(socket, _messages(found))


async def _messages(call: PersonCall) -> AsyncGenerator[str, None]:
    async for _, message in call.follow():
        told = message
        if "done" in message:
            done = message["done"]
            # Names and addresses of the page's own: no path of this machine.
            names = call.folder.relative_to(call.spec.run_dir).parts if call.folder else ()
            told = {"done": {**done, "folder": "/".join(names), "call": call_id(names)}}
        yield json.dumps(told)


def calls_of(connection: Request | WebSocket) -> PersonCalls:
    """Of the server that this request or websocket came to."""
    found = connection.app.state.person_calls
    assert isinstance(found, PersonCalls)
    return found


def _call(request: Request, call: str) -> PersonCall:
    found = calls_of(request).get(call)
    if found is None:
        raise HTTPException(404, "no such call")
    return found

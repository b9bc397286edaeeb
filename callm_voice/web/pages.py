"""The pages about a run's calls, what they fetch, and their websockets."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request, WebSocket
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from callm_voice import __version__
from callm_voice.report.site import pages as site_pages
from callm_voice.web.live import CALL_IN, has_sound, live_of
from callm_voice.web.sockets import refuse
from callm_voice.web.streams import event_lines, sound_blocks

router = APIRouter()
HERE = Path(__file__).parent
SITE_ASSETS = ("site.css", "theme.js", "site.js")
"""The live pages look as the report does."""
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates. A name that is not there is an error, and everything is escaped."""
    return Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=site_pages.shown,
    )


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """One page. Nothing of it is kept by browsers: the next look shows the next state."""
    text = environment().get_template(template).render(
        path=request.url.path, call_in=CALL_IN, product_version=__version__, **values
    )  # fmt: skip
    return HTMLResponse(text, status, headers={"cache-control": "no-store"})


@router.get("/")
async def overview(request: Request) -> Response:
    """The run's calls."""
    return page(request, "calls.html", run=live_of(request).settings.run.name)


@router.get("/api/calls")
async def calls(request: Request) -> Response:
    """The same as JSON."""
    return JSONResponse(await live_of(request).overview(), headers={"cache-control": "no-store"})


@router.get("/calls/{call_id}")
async def listen(request: Request, call_id: str) -> Response:
    """One call: its sound and what happens in it."""
    live = live_of(request)
    entry = await live.index.entry(call_id)
    if entry is None:
        return page(request, "message.html", status=404, title="No such call", text="The run holds no such call.")
    return page(request, "listen.html", call=await live.about(entry), has_sound=has_sound(entry))


@router.websocket("/calls/{call_id}/events")
async def events(socket: WebSocket, call_id: str) -> None:
    """Its events from the beginning."""
    live = live_of(socket)
    entry = await live.index.entry(call_id)
    if entry is None:
        await refuse(socket, 404, "no such call")
        return
    await live.sockets.feed(socket, event_lines(entry, live.clock))


@router.websocket("/calls/{call_id}/sound")
async def sound(socket: WebSocket, call_id: str) -> None:
    """Its sound from line tick 0."""
    live = live_of(socket)
    entry = await live.index.entry(call_id)
    if entry is None or not has_sound(entry):
        await refuse(socket, 404, "no such call" if entry is None else "this call has no sound")
        return
    await live.sockets.feed(socket, sound_blocks(entry, live.hearing, live.clock))


@lru_cache(maxsize=1)
def static_files() -> dict[str, Path]:
    """Name → file: nothing else can be fetched."""
    of_the_report = Path(site_pages.__file__).parent / "assets"
    ours = {path.name: path for path in sorted((HERE / "static").iterdir()) if path.suffix in MEDIA_TYPES}
    return ours | {name: of_the_report / name for name in SITE_ASSETS}


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """Styles and scripts."""
    path = static_files().get(name)
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers={"cache-control": "no-cache"})

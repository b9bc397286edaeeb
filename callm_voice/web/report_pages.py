"""The report of the run, below `/report/`."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from callm_voice.web.live import live_of
from callm_voice.web.pages import page

router = APIRouter()
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Bars of the site have their lengths in style attributes."""
MEDIA_TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json",
    ".jsonl": "application/x-ndjson", ".gz": "application/gzip", ".flac": "audio/flac", ".opus": "audio/ogg",
}  # fmt: skip
"""Of all files that a site is made of; no other is given out."""


@router.get("/report")
async def without_slash() -> Response:
    """Links of the site are relative to its folder."""
    return RedirectResponse("report/", 307)


@router.api_route("/report/{path:path}", methods=["GET", "HEAD"])
async def report(request: Request, path: str) -> Response:
    """One file of the newest site."""
    live = live_of(request)
    live.report.look()
    site = live.report.site
    if site is None:
        return await _not_yet(request)
    found = await live.clock.in_thread("look", find, site, path)
    if found is None:
        raise HTTPException(404)
    headers = {"content-security-policy": POLICY, "cache-control": "no-cache"}
    return FileResponse(found, media_type=MEDIA_TYPES[found.suffix], headers=headers)


def find(site: Path, path: str) -> Path | None:
    """The file of a site that an address names; None: it names none. No link and no `..` leads out of it."""
    names = path.split("/")
    if not names[-1]:
        names[-1] = "index.html"
    if any(not name or name.startswith(".") or "\\" in name or "\0" in name for name in names):
        return None
    target, top = site.joinpath(*names), site.resolve()
    try:
        inside = target.resolve(strict=True) == top.joinpath(*names)
    except OSError:
        return None
    return target if inside and target.is_file() and target.suffix in MEDIA_TYPES else None


async def _not_yet(request: Request) -> Response:
    live = live_of(request)
    if live.report.error:
        return page(request, "message.html", status=500, title="No report", text=live.report.error)
    finished = (await live.index.look()).finished
    text = "The report is being built." if finished else "No call of this run is finished yet."
    answer = page(request, "message.html", status=200, title="Report", text=text)
    answer.headers["refresh"] = "2"
    return answer

"""The live page's application."""

from __future__ import annotations

from fastapi import FastAPI

from callm_voice.web import call_in, pages, report_pages
from callm_voice.web.guard import Guard
from callm_voice.web.live import Live
from callm_voice.web.settings import ServeSettings


def create_app(settings: ServeSettings) -> FastAPI:
    """All pages, calls and websockets of one server; `app.state.settings` are its settings.

    Every request and websocket passes the guard first: no route checks a token, a host or an origin.
    """
    live = Live(settings)
    app = FastAPI(title="callm-voice", docs_url=None, redoc_url=None, openapi_url=None, lifespan=live.running)
    app.state.settings, app.state.live = settings, live
    for router in (pages.router, report_pages.router, call_in.router):
        app.include_router(router)
    app.add_middleware(Guard, token=settings.token)
    return app

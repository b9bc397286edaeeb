"""Serves the live page until somebody ends it."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from callm_voice.bench.http_limits import BoundedHttp
from callm_voice.core.errors import SetupError
from callm_voice.web.app import create_app
from callm_voice.web.settings import ServeSettings

STALLED_MS = 10_000
"""A peer that takes nothing for so long is cut off by the kernel, however politely it answers its probes."""
PING_EVERY_S = 4.0
PING_LIMIT_S = 6.0
MAX_MESSAGE_BYTES = 64 * 1024
GOODBYE_S = 5
BACKLOG = 128


def serve(settings: ServeSettings, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` gets the address as soon as it is answered.

    Raises:
        SetupError: the address cannot be had.
    """
    listener = listen(settings.host, settings.port)
    with listener:
        server = uvicorn.Server(config(settings))
        on_ready(url_of(settings.host, listener))
        # uvicorn ends in order at the first signal and raises it again afterwards; then it has done its work.
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)


def config(settings: ServeSettings) -> uvicorn.Config:
    """Addresses are never logged: a token may be in one."""
    made = uvicorn.Config(
        create_app(settings),
        http=BoundedHttp,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_ping_interval=PING_EVERY_S,
        ws_ping_timeout=PING_LIMIT_S,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GOODBYE_S,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)
    return made


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """uvicorn takes a handshake that was answered with an HTTP status for one that was not answered at all."""
    return "returned without completing handshake" not in record.getMessage()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        SetupError: the address is taken, or is none of this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except UnicodeError as error:  # the name is turned into what DNS knows before it is asked for
        raise SetupError(f"--host {host}: not the name of a machine") from error
    except OSError as error:
        raise SetupError(f"--host {host}: {error.strerror or error}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted sockets have it from the listening one
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        hint = "choose another --port, or leave it away" if port else ""
        raise SetupError(f"{host}:{port}: cannot be listened on: {error.strerror or error}", hint=hint) from error
    return listener


def url_of(host: str, listener: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/"

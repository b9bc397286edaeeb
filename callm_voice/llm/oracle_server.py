"""The oracle: a scripted OpenAI-compatible server in a process of its own, whose times are set.

    python -m callm_voice.llm.oracle_server --port 0 --script FILE --ttft-ms 250 --tokens-per-s 60

It prints one JSON line with its port when it is ready, and ends when its stdin ends or its parent is gone.
`PUT /oracle/script` gives a running server another script and empties its log.
`GET /oracle/log` tells when each request was received and each answer's tokens were sent, in seconds of the system's
monotonic clock, which every process of a machine shares.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

from aiohttp import web

from callm_voice.core.clock import Clock, RealClock
from callm_voice.core.errors import UsageError
from callm_voice.llm.child import take_stdout, wait_for_parent_end
from callm_voice.llm.oracle_replay import OracleError, OracleReply, next_reply
from callm_voice.llm.oracle_script import MODEL_ID, Step, parse_script
from callm_voice.llm.toolcalls import made_id

TOKENS_PER_WORD = 4 / 3
"""An estimate, and labelled as one: the oracle has no tokeniser."""
ARGUMENT_PIECE_CHARS = 16
AWAKE_S = 0.004
"""How long before the first token's time the server stops sleeping: who sleeps, wakes up a few milliseconds late."""
MAX_BODY_BYTES = 32_000_000


class OracleServer:
    """The application. Stateless but for its log.

    Args:
        ttft_ms: from the received request to the first token sent.
        tokens_per_s: pace of the tokens after the first.
    """

    def __init__(self, steps: tuple[Step, ...], *, ttft_ms: float, tokens_per_s: float, clock: Clock) -> None:
        self._steps, self._clock = steps, clock
        self._ttft_s, self._token_s = ttft_ms / 1000, 1 / tokens_per_s
        self._log: list[dict[str, Any]] = []

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/oracle/log", self._show_log)
        app.router.add_put("/oracle/script", self._take_script)
        return app

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL_ID, "object": "model", "owned_by": "callm"}]})

    async def _show_log(self, _: web.Request) -> web.Response:
        return web.json_response(self._log)

    async def _take_script(self, request: web.Request) -> web.Response:
        try:
            self._steps = parse_script(json.loads(await request.read()))
        except (ValueError, UsageError) as error:
            return _refusal(f"oracle: {error}")
        self._log = []
        return web.json_response({"steps": len(self._steps)})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        received_s = self._clock.now_s()
        try:
            body = json.loads(await request.read())
            messages = body["messages"]
            offered = [tool["function"]["name"] for tool in body.get("tools") or ()]
            reply = next_reply(self._steps, messages, offered)
        except OracleError as error:
            return _refusal(f"oracle: {error}")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _refusal(f"oracle: not a chat completion request: {type(error).__name__}: {error}")
        entry: dict[str, Any] = {
            "request": len(self._log), "step": reply.step, "messages": len(messages), "tools": len(offered),
            "text": reply.text, "calls": [call.call for call in reply.calls], "received_s": received_s,
            "first_token_s": None, "last_token_s": None, "ended_s": None, "cut": False,
        }  # fmt: skip
        self._log.append(entry)
        chunks = chunks_of(reply, f"chatcmpl-oracle-{len(self._log)}")
        return await self._stream(request, chunks, usage_of(reply, messages, body.get("tools")), entry)

    async def _stream(
        self, request: web.Request, chunks: list[dict[str, Any]], usage: dict[str, Any], entry: dict[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        try:
            await response.prepare(request)
            await self._send_tokens(response, chunks, usage, entry)
            await response.write_eof()
        except ConnectionError:
            entry["cut"] = True  # the client hung up: barge-in
        entry["ended_s"] = self._clock.now_s()
        return response

    async def _send_tokens(
        self, response: web.StreamResponse, chunks: list[dict[str, Any]], usage: dict[str, Any], entry: dict[str, Any]
    ) -> None:
        """Each token at its own absolute time, so that delays do not add up."""
        envelope = {"id": f"chatcmpl-oracle-{entry['request']}", "object": "chat.completion.chunk", "model": MODEL_ID}

        def event(part: dict[str, Any]) -> bytes:
            data = json.dumps({**envelope, "created": 0, **part}, ensure_ascii=False)
            return f"data: {data}\n\n".encode()

        async def send(part: dict[str, Any]) -> None:
            await response.write(event(part))

        await send({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
        first_s = entry["received_s"] + self._ttft_s
        for number, delta in enumerate(chunks):
            data = event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            await self._at(first_s + number * self._token_s, awake_s=0.0 if number else AWAKE_S)
            sent_s = self._clock.now_s()
            await response.write(data)
            entry["first_token_s"] = entry["first_token_s"] or sent_s
            entry["last_token_s"] = sent_s
        reason = "tool_calls" if "tool_calls" in chunks[-1] else "stop"
        await send({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        await send({"choices": [], "usage": usage})
        await response.write(b"data: [DONE]\n\n")

    async def _at(self, due_s: float, *, awake_s: float) -> None:
        """Return at `due_s`; with `awake_s`, to a fraction of a millisecond."""
        while self._clock.now_s() < due_s:
            await self._clock.sleep_until(due_s - awake_s)  # of a time that is past: yields once


def chunks_of(reply: OracleReply, response_id: str) -> list[dict[str, Any]]:
    """The deltas of an answer: word by word, then each call's name and its arguments in pieces."""
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in re.findall(r"\s*\S+", reply.text)]
    for index, call in enumerate(reply.calls):
        call_id = made_id(response_id, index, 0.0)
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": call.call, "arguments": ""}}
        deltas.append({"tool_calls": [head]})
        arguments = json.dumps(call.args, ensure_ascii=False)
        for begin in range(0, len(arguments), ARGUMENT_PIECE_CHARS):
            piece = arguments[begin : begin + ARGUMENT_PIECE_CHARS]
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return deltas


def usage_of(reply: OracleReply, messages: list[dict[str, Any]], tools: Any) -> dict[str, Any]:
    """Token counts, estimated from words."""

    def tokens(text: str) -> int:
        return round(len(text.split()) * TOKENS_PER_WORD)

    prompt = tokens(json.dumps(messages, ensure_ascii=False)) + (tokens(json.dumps(tools)) if tools else 0)
    completion = tokens(reply.text) + sum(tokens(f"{c.call} {json.dumps(c.args)}") for c in reply.calls)
    return {
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        "estimated": True,
    }  # fmt: skip


def _refusal(message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)


async def _serve(server: OracleServer, port: int, announce: Any) -> None:
    runner = web.AppRunner(server.app(), access_log=None, keepalive_timeout=600, shutdown_timeout=0.5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    announce({"ready": True, "port": runner.addresses[0][1], "model": MODEL_ID})
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch() -> None:
        wait_for_parent_end()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, daemon=True).start()
    await ended.wait()
    await runner.cleanup()


def main(arguments: list[str] | None = None) -> int:
    """Run until stdin ends."""
    parser = argparse.ArgumentParser(prog="oracle_server", description="Scripted OpenAI-compatible model server.")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--script", type=Path, help="JSON file: the list of dialogue steps; without it none yet")
    parser.add_argument("--ttft-ms", type=float, default=250.0)
    parser.add_argument("--tokens-per-s", type=float, default=60.0)
    options = parser.parse_args(arguments)
    announce = take_stdout()
    try:
        steps = parse_script(json.loads(options.script.read_text(encoding="utf-8"))) if options.script else ()
    except (OSError, ValueError) as error:
        parser.exit(2, f"{options.script}: {error}\n")
    except UsageError as error:
        parser.exit(2, f"{options.script}: {error.message}\n")
    clock = RealClock(threads=1)
    server = OracleServer(steps, ttft_ms=options.ttft_ms, tokens_per_s=options.tokens_per_s, clock=clock)
    try:
        asyncio.run(_serve(server, options.port, announce))
    finally:
        clock.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

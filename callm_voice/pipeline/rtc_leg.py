"""The agent's end of the line, when it is phoned by WebRTC: our offer goes to it by HTTP, its answer comes back.

The form of the request is that of Pipecat's development runner (`POST /api/offer`): JSON `{sdp, type, request_data}`,
answered with `{sdp, type, pc_id}`. All candidates are in the descriptions; nothing is trickled, and no STUN server is
asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import httpx

from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.line.leg import Frame
from callm_voice.llm.secrets import redact, safe_url
from callm_voice.pipeline.rtc_peer import CLOSED_BY_OTHER_END, RtcPeer
from callm_voice.pipeline.rtc_sdp import MAX_SDP_BYTES, RtcError, plain
from callm_voice.pipeline.twilio_link import is_loopback

ANSWER_LIMIT_S = 10.0
"""For the HTTP request; an agent may load its models in it."""
CONNECT_LIMIT_S = 10.0
"""For ICE and DTLS."""
MAX_ANSWER_BYTES = 2 * MAX_SDP_BYTES
_ERROR_TEXT_CHARS = 120


class RtcLeg:
    """A `Leg` (line/leg.py). `start`, `open` as the line opens, then the line runs, then `aclose`.

    The line is open while the agent is phoned, as a telephone rings: what it says first is not lost. Keys that the
    caller presses go as the tones that they are.

    Args:
        url: that takes the offer.
        rate_hz: of the line.
        clock: of the call.
        on_hang_up: called once, when the agent has closed the connection.
        on_error: called once with what broke.
        told: goes with the offer as `request_data`, which Pipecat's runner gives to the agent as `body`.
        seed: of the RTP numbers.
    """

    def __init__(
        self,
        url: str,
        *,
        rate_hz: int,
        clock: Clock,
        on_hang_up: Callable[[str], None],
        on_error: Callable[[CallmError], None],
        told: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        self._url, self._shown, self._clock = url, safe_url(url), clock
        self._on_hang_up, self._on_error = on_hang_up, on_error
        self._peer = RtcPeer(
            rate_hz=rate_hz, codec=None, clock=clock, on_closed=self._closed, hosts=None, seed=seed
        )  # fmt: skip
        self._offer, self._request_data = "", dict(told or {})
        self._phoning: asyncio.Task[None] | None = None
        self._told = False

    async def start(self) -> None:
        """Make the offer; the agent hears nothing of it yet.

        Raises:
            RtcError: no UDP port can be had.
        """
        self._offer = await self._peer.offer()

    def open(self) -> None:
        """Phone the agent."""
        self._phoning = asyncio.create_task(self._phone(), name="rtc-phone")

    async def aclose(self) -> None:
        """Hang up. Safe to call twice."""
        self._told = True
        if self._phoning is not None:
            self._phoning.cancel()
            await asyncio.wait({self._phoning})
        await self._peer.aclose()

    def push(self, frame: Frame) -> None:
        self._peer.send(frame)

    def pull(self) -> Frame | None:
        return self._peer.pull()

    def clear(self) -> None:
        """Nothing is queued here."""

    @property
    def work(self) -> dict[str, float]:
        """What went over the connection, for the record."""
        counts = self._peer.counts
        return {
            "packets_sent": float(self._peer.sent),
            "packets_received": float(self._peer.received),
            "packets_foreign": float(self._peer.foreign),
            "packets_late": float(counts.late),
            "packets_concealed": float(counts.concealed),
            "packets_stretched": float(counts.stretched),
            "packets_skipped": float(counts.skipped),
        }

    def agreed(self) -> dict[str, object]:
        """What both ends agreed on, for the record."""
        audio = self._peer.audio
        return {} if audio is None else {"codec": audio.codec, "events": audio.events_payload_type is not None}

    async def _phone(self) -> None:
        try:
            await self._peer.accept(await self._exchange())
            await self._peer.connected(CONNECT_LIMIT_S)
        except RtcError as error:
            self._broke(error)

    async def _exchange(self) -> str:
        """The agent's answer to our offer.

        Raises:
            RtcError: it gave none.
        """
        try:
            proxies = not is_loopback(self._url)
            async with (
                asyncio.timeout(ANSWER_LIMIT_S),
                httpx.AsyncClient(timeout=ANSWER_LIMIT_S, follow_redirects=False, trust_env=proxies) as client,
            ):
                return await self._post(client)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise RtcError(f"{self._shown}: no answer to the offer within {ANSWER_LIMIT_S:g} s") from error
        # InvalidURL, ValueError: the address, or the environment's proxy, cannot be meant. ImportError: a SOCKS proxy.
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, ImportError) as error:
            why = plain(redact(str(error), ()), _ERROR_TEXT_CHARS) or type(error).__name__
            raise RtcError(f"{self._shown}: {why}", hint="is the agent running at that address?") from error

    async def _post(self, client: httpx.AsyncClient) -> str:
        offer: dict[str, object] = {"sdp": self._offer, "type": "offer"}
        if self._request_data:
            offer["request_data"] = self._request_data
        async with client.stream("POST", self._url, json=offer) as response:
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_ANSWER_BYTES:
                    raise RtcError(f"{self._shown}: the answer has more than {MAX_ANSWER_BYTES} bytes")
            if not 200 <= response.status_code < 300:
                said = plain(body.decode("utf-8", "replace"), _ERROR_TEXT_CHARS)
                raise RtcError(f"{self._shown} answered HTTP {response.status_code}: {said}".rstrip(": "))
            return _sdp_of(body, self._shown)

    def _closed(self, why: str) -> None:
        """The agent hung up in good order, or the connection broke."""
        if self._told:
            return
        if why == CLOSED_BY_OTHER_END and self._peer.received:
            self._told = True
            self._on_hang_up("the agent closed the connection")
        else:
            self._broke(RtcError(why))

    def _broke(self, error: RtcError) -> None:
        if not self._told:
            self._told = True
            self._on_error(error if self._shown in error.message else RtcError(f"{self._shown}: {error.message}"))


def _sdp_of(body: bytes, shown: str) -> str:
    """The description in the agent's answer.

    Raises:
        RtcError: there is none.
    """
    expected = 'expected JSON {"sdp": "…", "type": "answer"}'
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RtcError(f"{shown}: the answer is not JSON; {expected}") from error
    if not isinstance(answer, dict) or not isinstance(answer.get("sdp"), str) or answer.get("type") != "answer":
        raise RtcError(f"{shown}: {expected}, found {type(answer).__name__} without them")
    return str(answer["sdp"])

"""The messages of a Twilio media stream, without I/O: text in, a message out, and back.

https://www.twilio.com/docs/voice/media-streams/websocket-messages. The telephone network's side sends `connected`,
`start`, `media`, `dtmf`, `mark` and `stop`; the agent's side sends `media`, `mark` and `clear`. Numbers travel as text,
sound as base64 of µ-law at 8,000 Hz (ITU-T G.711), without any header.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MEDIA_RATE_HZ = 8000
MEDIA_ENCODING = "audio/x-mulaw"
TRACK = "inbound"
"""What the caller says; the agent's own sound is not sent back to it."""
MAX_NAME_CHARS = 1024
"""Of a mark."""
SHOWN_CHARS = 60
"""Of what the peer sent, in an error."""


class BadMessage(ValueError):
    """Not a message of a media stream; the text says what was wrong with it."""


@dataclass(frozen=True)
class Connected:
    """The first message."""

    protocol: str = "Call"
    version: str = "1.0.0"


@dataclass(frozen=True)
class Start:
    """The second message: what stream this is."""

    stream_sid: str
    call_sid: str
    account_sid: str
    sequence: int
    parameters: Mapping[str, str] = field(default_factory=dict)
    """`customParameters`: what whoever set the stream up wants the agent to know."""


@dataclass(frozen=True)
class Media:
    """A piece of sound."""

    stream_sid: str
    payload: bytes
    """µ-law, one byte a sample."""
    sequence: int | None = None
    """From here on: of the network's side alone."""
    chunk: int | None = None
    timestamp_ms: int | None = None
    """Since the stream's start."""


@dataclass(frozen=True)
class Mark:
    """The agent's side: tell me when the sound before this was played. The network's side: it was, or was cleared."""

    stream_sid: str
    name: str
    sequence: int | None = None


@dataclass(frozen=True)
class Clear:
    """Drop the sound that was not played yet."""

    stream_sid: str


@dataclass(frozen=True)
class Dtmf:
    """The caller pressed a key."""

    stream_sid: str
    digit: str
    sequence: int | None = None


@dataclass(frozen=True)
class Stop:
    """The last message."""

    stream_sid: str
    call_sid: str
    account_sid: str
    sequence: int


@dataclass(frozen=True)
class Unknown:
    """A message of an event that is not listed here."""

    event: str


Message = Connected | Start | Media | Mark | Clear | Dtmf | Stop | Unknown


def pack(message: Message) -> str:
    """The text of a message.

    Raises:
        TypeError: an `Unknown` message cannot be sent.
    """
    match message:
        case Connected(protocol, version):
            body: dict[str, Any] = {"event": "connected", "protocol": protocol, "version": version}
        case Start():
            body = _with_ids("start", message, start=_start(message))
        case Media():
            about = {"track": TRACK, "chunk": message.chunk, "timestamp": message.timestamp_ms}
            from_network = {} if message.chunk is None else {key: str(value) for key, value in about.items()}
            payload = base64.b64encode(message.payload).decode("ascii")
            body = _with_ids("media", message, media={**from_network, "payload": payload})
        case Mark():
            body = _with_ids("mark", message, mark={"name": message.name})
        case Clear():
            body = {"event": "clear", "streamSid": message.stream_sid}
        case Dtmf():
            body = _with_ids("dtmf", message, dtmf={"track": f"{TRACK}_track", "digit": message.digit})
        case Stop():
            ids = {"accountSid": message.account_sid, "callSid": message.call_sid}
            body = _with_ids("stop", message, stop=ids)
        case _:
            raise TypeError(f"{type(message).__name__} is not sent")
    return json.dumps(body)  # in ASCII: an agent may name a mark by half a surrogate pair, and gets that back


def parse(text: str | bytes) -> Message:
    """The message in one websocket message.

    Raises:
        BadMessage: it is none; one line that says why.
    """
    if isinstance(text, bytes):
        raise BadMessage("a binary message; a media stream has text messages only")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"not JSON: {_shown(text)}") from error
    if not isinstance(body, dict):
        raise BadMessage(f"not a JSON object: {_shown(text)}")
    event = _text(body, "event", "the message")
    parsers = {
        "connected": _connected, "start": _started, "media": _media, "mark": _mark, "clear": _clear, "dtmf": _dtmf,
        "stop": _stopped,
    }  # fmt: skip
    return parsers[event](body) if event in parsers else Unknown(event[:SHOWN_CHARS])


def _start(message: Start) -> dict[str, Any]:
    return {
        "streamSid": message.stream_sid,
        "accountSid": message.account_sid,
        "callSid": message.call_sid,
        "tracks": [TRACK],
        "mediaFormat": {"encoding": MEDIA_ENCODING, "sampleRate": MEDIA_RATE_HZ, "channels": 1},
        "customParameters": dict(message.parameters),
    }


def _with_ids(event: str, message: Start | Media | Mark | Dtmf | Stop, **content: Any) -> dict[str, Any]:
    sequence = {} if message.sequence is None else {"sequenceNumber": str(message.sequence)}
    return {"event": event, **sequence, **content, "streamSid": message.stream_sid}


def _connected(body: dict[str, Any]) -> Message:
    return Connected(_text(body, "protocol", "connected"), _text(body, "version", "connected"))


def _started(body: dict[str, Any]) -> Message:
    about = _part(body, "start")
    given = _part(about, "mediaFormat")
    wanted = {"encoding": MEDIA_ENCODING, "sampleRate": MEDIA_RATE_HZ, "channels": 1}
    if given != wanted:
        raise BadMessage(f"start.mediaFormat: expected {json.dumps(wanted)}, got {_shown_json(given)}")
    parameters = about.get("customParameters", {})
    if not isinstance(parameters, dict) or not all(isinstance(value, str) for value in parameters.values()):
        raise BadMessage("start.customParameters: expected an object of texts")
    return Start(
        stream_sid=_text(body, "streamSid", "start"),
        call_sid=_text(about, "callSid", "start"),
        account_sid=_text(about, "accountSid", "start"),
        sequence=_number(body, "sequenceNumber", "start"),
        parameters=parameters,
    )


def _media(body: dict[str, Any]) -> Message:
    about = _part(body, "media")
    try:
        payload = base64.b64decode(_text(about, "payload", "media"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadMessage(f"media.payload: not base64: {error}") from error
    if payload[:4] == b"RIFF":
        raise BadMessage("media.payload: begins with the header of a WAV file; expected µ-law without a header")
    from_network = "chunk" in about
    return Media(
        stream_sid=_text(body, "streamSid", "media"),
        payload=payload,
        sequence=_number(body, "sequenceNumber", "media") if from_network else None,
        chunk=_number(about, "chunk", "media") if from_network else None,
        timestamp_ms=_number(about, "timestamp", "media") if from_network else None,
    )


def _mark(body: dict[str, Any]) -> Message:
    name = _text(_part(body, "mark"), "name", "mark")
    if len(name) > MAX_NAME_CHARS:
        raise BadMessage(f"mark.name: {len(name)} characters; at most {MAX_NAME_CHARS}")
    return Mark(_text(body, "streamSid", "mark"), name, _sequence(body, "mark"))


def _clear(body: dict[str, Any]) -> Message:
    return Clear(_text(body, "streamSid", "clear"))


def _dtmf(body: dict[str, Any]) -> Message:
    digit = _text(_part(body, "dtmf"), "digit", "dtmf")
    return Dtmf(_text(body, "streamSid", "dtmf"), digit, _sequence(body, "dtmf"))


def _stopped(body: dict[str, Any]) -> Message:
    about = _part(body, "stop")
    return Stop(
        stream_sid=_text(body, "streamSid", "stop"),
        call_sid=_text(about, "callSid", "stop"),
        account_sid=_text(about, "accountSid", "stop"),
        sequence=_number(body, "sequenceNumber", "stop"),
    )


def _sequence(body: dict[str, Any], where: str) -> int | None:
    return _number(body, "sequenceNumber", where) if "sequenceNumber" in body else None


def _part(body: dict[str, Any], key: str) -> dict[str, Any]:
    part = body.get(key)
    if not isinstance(part, dict):
        raise BadMessage(f"{key}: expected an object")
    return part


def _text(body: dict[str, Any], key: str, where: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise BadMessage(f"{where}: {key}: expected text, got {_shown_json(value)}")
    return value


def _number(body: dict[str, Any], key: str, where: str) -> int:
    value = body.get(key)
    # As long as a 64-bit number may be; isascii: int() would take digits of other scripts too.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
        return int(value)
    raise BadMessage(f"{where}: {key}: expected a whole number as text, got {_shown_json(value)}")


def _shown_json(value: Any) -> str:
    """The same of what JSON meant. It can be nested so deep that it was only just read."""
    try:
        return _shown(json.dumps(value))
    except RecursionError:
        return "something nested too deeply"


def _shown(text: str) -> str:
    """The beginning of what the peer sent, on one line."""
    line = ascii(text)
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}..."

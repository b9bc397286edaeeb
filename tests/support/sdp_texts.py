"""Session descriptions, whole and spoilt."""

from __future__ import annotations

FINGERPRINT = ":".join(["0A"] * 32)


def audio_sdp(
    *,
    codecs: tuple[tuple[int, str], ...] = ((0, "PCMU/8000"), (101, "telephone-event/8000")),
    direction: str = "sendrecv",
    fingerprint: bool = True,
    ice: bool = True,
    setup: str = "actpass",
    kind: str = "audio",
    mid: str | None = "0",
    candidates: tuple[str, ...] = ("127.0.0.1",),
) -> str:
    """One stream, as a browser describes it."""
    formats = " ".join(str(number) for number, _ in codecs)
    lines = [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
        f"m={kind} 9 UDP/TLS/RTP/SAVPF {formats}", "c=IN IP4 0.0.0.0",
        *(f"a=rtpmap:{number} {name}" for number, name in codecs),
        f"a={direction}", "a=rtcp-mux", f"a=setup:{setup}",
    ]  # fmt: skip
    lines += [f"a=mid:{mid}"] if mid is not None else []
    lines += [f"a=fingerprint:sha-256 {FINGERPRINT}"] if fingerprint else []
    lines += ["a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuv"] if ice else []
    lines += [f"a=candidate:1 1 udp 2130706431 {host} 50000 typ host" for host in candidates]
    return "\r\n".join([*lines, ""])


MALFORMED: dict[str, object] = {
    "empty": "",
    "none": None,
    "number": 7,
    "spaces": "  \r\n ",
    "words": "hello, this is no session",
    "html": "<html><body>404</body></html>",
    "no media": "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n",
    "bad m line": "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio nine UDP/TLS/RTP/SAVPF 0\r\n",
    "payload type not a number": audio_sdp().replace("SAVPF 0", "SAVPF zero"),
    "payload type too large": audio_sdp().replace("SAVPF 0", "SAVPF 999"),
    "rtpmap cut": audio_sdp().replace("PCMU/8000", "PCMU"),
    "fingerprint cut": audio_sdp().replace("a=fingerprint:sha-256 ", "a=fingerprint:"),
    "candidate cut": audio_sdp(candidates=("",)),
    "unknown setup": audio_sdp(setup="sideways"),
    "no fingerprint": audio_sdp(fingerprint=False),
    "no ice": audio_sdp(ice=False),
    "no mid": audio_sdp(mid=None),
    "video": audio_sdp(kind="video"),
    "data only": audio_sdp(kind="application"),
    "two streams": audio_sdp() + audio_sdp().partition("m=audio")[1] + audio_sdp().partition("m=audio")[2],
    "one way": audio_sdp(direction="recvonly"),
    "codec of another world": audio_sdp(codecs=((96, "AMR/8000"),)),
    "codec at another clock": audio_sdp(codecs=((0, "PCMU/16000"),)),
    "codec with an escape in its name": audio_sdp(codecs=((96, "\x1b[31mred/8000"),)),
    "too long": audio_sdp() + "a=x:" + "y" * 70_000,
}
"""What no other end should be able to break us with."""

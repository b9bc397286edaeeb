"""Session descriptions as browsers offer them; made up, for nobody's machine."""

from __future__ import annotations

FINGERPRINT = ":".join(["4A"] * 32)


def offer(*, kind: str = "audio", codecs: str = "111 0", direction: str = "sendrecv", extra: str = "") -> str:
    """One stream of Opus, G.711 µ-law and telephone events, encrypted, with one candidate."""
    return "\r\n".join(
        [
            "v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
            f"m={kind} 50000 UDP/TLS/RTP/SAVPF {codecs} 110", "c=IN IP4 127.0.0.1",
            "a=candidate:1 1 udp 2113937151 127.0.0.1 50000 typ host", "a=ice-ufrag:abcd",
            "a=ice-pwd:abcdefghijklmnopqrstuvwx", f"a=fingerprint:sha-256 {FINGERPRINT}", "a=setup:actpass", "a=mid:0",
            f"a={direction}", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2", "a=rtpmap:0 PCMU/8000",
            "a=rtpmap:97 iLBC/8000", "a=rtpmap:110 telephone-event/48000", *filter(None, [extra]), "",
        ]
    )  # fmt: skip

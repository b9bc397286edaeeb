"""What a process keeps from one call to the next: packs, speech engines, model servers.

A call that takes from a used workshop leaves the same record as one in a fresh process: engines keep no state between
two utterances but caches of pure functions, a voice activity detector is made anew for each call (it does have state),
and a model's server is brought to the same point by `warm` before each call.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from callm_voice.desk.pack import Pack, load_pack
from callm_voice.llm.server_pool import ServerPool

MAX_ENGINES = 4
"""Of one part. A run has one recogniser and one agent's voice, but as many callers' voices as there are."""
E = TypeVar("E")
S = TypeVar("S", bound=BaseModel)


class Workshop:
    """Made empty; filled by the first call. One call at a time.

    Args:
        servers: model servers are kept in it; None: each call starts and ends its own.
    """

    def __init__(self, servers: ServerPool | None = None) -> None:
        self.servers = servers
        self._engines: dict[tuple[str, str], Any] = {}
        self._packs: dict[Path, Pack] = {}

    def pack(self, folder: Path) -> Pack:
        """The pack in `folder`, loaded once: an edit in between does not reach calls that are made together."""
        if folder not in self._packs:
            self._packs[folder] = load_pack(folder)
        return self._packs[folder]

    def engine(self, part: str, make: Callable[[S], E], settings: S) -> E:
        """What `make(settings)` gives, made once for a part and its settings.

        Args:
            part: the agent's voice and the caller's never share an engine, as the two may speak at once.
        """
        key = (part, settings.model_dump_json())
        found: E = self._engines.pop(key, None) or make(settings)
        same_part = [other for other in self._engines if other[0] == part]
        for other in same_part[: max(0, len(same_part) - MAX_ENGINES + 1)]:
            del self._engines[other]
        self._engines[key] = found  # last: the most recently used
        return found

    def drop(self) -> None:
        """Let go of all engines and servers, after a call that broke: one of them may be to blame."""
        self._engines.clear()
        if self.servers is not None:
            self.servers.drop()

    def close(self) -> None:
        """End the servers. Does nothing the second time."""
        self._engines.clear()
        if self.servers is not None:
            self.servers.close()

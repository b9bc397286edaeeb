"""No processor of ours shadows a name of its Pipecat base: one that did (`_start`) broke the pipeline in silence."""

from __future__ import annotations

import dis
import inspect
import pkgutil
import re
from importlib import import_module
from types import CodeType

import pytest
from pipecat.frames.frames import StartFrame
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.ai_service import AIService

import callm_voice.pipeline

pytestmark = pytest.mark.meta

OVERRIDES = {"process_frame", "cleanup", "can_generate_metrics"}
"""What Pipecat documents as meant to be overridden."""


def our_processors() -> list[type[FrameProcessor]]:
    modules = [
        import_module(m.name) for m in pkgutil.iter_modules(callm_voice.pipeline.__path__, "callm_voice.pipeline.")
    ]
    found = {c for m in modules for _, c in inspect.getmembers(m, inspect.isclass) if issubclass(c, FrameProcessor)}
    return sorted((c for c in found if c.__module__.startswith("callm_voice.")), key=lambda c: c.__name__)


def own_attributes(kind: type) -> set[str]:
    """What its class body defines, and what its methods set on `self`."""
    code = [f.__code__ for f in vars(kind).values() if inspect.isfunction(f)]
    return set(vars(kind)) | {name for c in code for name in names_set_on_self(c)}


def names_set_on_self(code: CodeType) -> set[str]:
    return {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}


def base_attributes(kind: type) -> set[str]:
    """Everything that the foreign bases define, and what their methods set on `self`."""
    foreign = [c for c in kind.__mro__ if c is not object and not c.__module__.startswith("callm_voice.")]
    return set().union(*(own_attributes(c) for c in foreign))


def shadowed(kind: type) -> set[str]:
    common = (own_attributes(kind) & base_attributes(kind)) - OVERRIDES
    return {name for name in common if not re.fullmatch(r"__\w+__|_abc_impl", name)}


def test_there_are_processors_to_look_at() -> None:
    assert {"LineInput", "Recogniser", "DeskService", "Sentences", "Voice", "LineOutput"} <= {
        c.__name__ for c in our_processors()
    }


@pytest.mark.parametrize("kind", our_processors(), ids=lambda c: c.__name__)
def test_no_name_of_pipecats_is_shadowed(kind: type[FrameProcessor]) -> None:
    assert shadowed(kind) == set()


def test_a_processor_that_shadows_a_name_is_found() -> None:
    class Method(AIService):
        async def _start(self, frame: StartFrame) -> None:
            """Pipecat's own start is gone."""

    class Attribute(FrameProcessor):
        def __init__(self) -> None:
            super().__init__()
            self._prev = None

    assert (shadowed(Method), shadowed(Attribute)) == ({"_start"}, {"_prev"})

"""Saved prefixes: named by everything they depend on, written whole, kept within bounds."""

import os

import pytest

from callm_voice.core.errors import DiskError
from callm_voice.llm.prefix_cache import MAX_FILES, PrefixCache, prepare_folder
from callm_voice.llm.types import ChatRequest

pytestmark = pytest.mark.unit
SYSTEM = {"role": "system", "content": "You are the billing desk."}
TOOL = {"type": "function", "function": {"name": "get"}}


def test_the_name_depends_on_prompt_tools_and_model(tmp_path):
    cache = PrefixCache(tmp_path, "model-a")
    names = {
        cache.name(ChatRequest([SYSTEM])),
        cache.name(ChatRequest([SYSTEM], [TOOL])),
        cache.name(ChatRequest([{**SYSTEM, "content": "x"}])),
        PrefixCache(tmp_path, "model-b").name(ChatRequest([SYSTEM])),
    }
    assert len(names) == 4


def test_the_name_does_not_depend_on_the_slot(tmp_path):
    cache = PrefixCache(tmp_path, "m")
    assert cache.name(ChatRequest([SYSTEM], role="a")) == cache.name(ChatRequest([SYSTEM], role="b"))


def test_a_file_is_there_only_when_it_was_kept(tmp_path):
    cache = PrefixCache(tmp_path, "m")
    name = cache.name(ChatRequest([SYSTEM]))
    (tmp_path / cache.temporary_name(name)).write_bytes(b"x")
    assert not cache.has(name)
    cache.keep(name)
    assert cache.has(name)
    cache.drop(name)
    assert not cache.has(name)


def test_left_overs_of_dead_processes_go_and_those_of_living_ones_stay(tmp_path):
    dead, living = tmp_path / ".a.slot.4194399.tmp", tmp_path / f".a.slot.{os.getpid()}.tmp"
    dead.touch()
    living.touch()
    prepare_folder(tmp_path)
    assert (dead.exists(), living.exists()) == (False, True)


def test_the_least_recently_used_files_go(tmp_path):
    for number in range(MAX_FILES + 2):
        path = tmp_path / f"{number:03}.slot"
        path.touch()
        os.utime(path, (number, number))
    prepare_folder(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir())[0] == "002.slot"
    assert len(list(tmp_path.iterdir())) == MAX_FILES


def test_a_folder_that_cannot_be_made_is_a_disk_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DiskError):
        prepare_folder(tmp_path / "file" / "prefix")

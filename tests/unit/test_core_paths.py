"""Where a name is looked for: the user's folder, then the user's home, then what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.core import paths
from callm_voice.core.errors import NotFoundError

pytestmark = pytest.mark.unit


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Three separate places; the working folder is the first."""
    found = {name: tmp_path / name for name in ("cwd", "home", "installed")}
    for place in found.values():
        (place / "pipelines").mkdir(parents=True)
        (place / "packs").mkdir()
    monkeypatch.chdir(found["cwd"])
    monkeypatch.setenv("CALLM_VOICE_HOME", str(found["home"]))
    monkeypatch.setattr(paths, "installed_data_dir", lambda: found["installed"])
    return found


def put(place: Path, file: str) -> Path:
    path = place / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x: 1\n", encoding="utf-8")
    return path


def test_the_working_folder_wins_over_the_home_and_the_home_over_the_installed(places: dict[str, Path]) -> None:
    for name in ("installed", "home", "cwd"):
        newest = put(places[name], "pipelines/p.yaml")
        assert paths.find("pipelines", "p") == newest.resolve()


def test_a_pack_is_a_folder_with_a_pack_file(places: dict[str, Path]) -> None:
    (places["cwd"] / "packs" / "demo").mkdir()
    put(places["installed"], "packs/demo/pack.yaml")
    assert paths.find("packs", "demo") == (places["installed"] / "packs/demo").resolve()


def test_a_path_is_taken_as_it_is(places: dict[str, Path]) -> None:
    mine = put(places["cwd"], "mine/q.yaml")
    assert paths.find("pipelines", "mine/q.yaml") == mine.resolve()
    assert paths.find("pipelines", str(mine)) == mine.resolve()


@pytest.mark.parametrize("name", ["nope", "", ".", "..", "../cwd/nope", "nope.yaml"])
def test_what_is_not_there_lists_the_known_names(places: dict[str, Path], name: str) -> None:
    put(places["home"], "packs/demo/pack.yaml")
    with pytest.raises(NotFoundError) as caught:
        paths.find("packs", name)
    assert str(caught.value) == f"no pack named {name!r}; known: demo"


def test_known_names_are_those_of_all_places_once_and_sorted(places: dict[str, Path]) -> None:
    for place, name in (("cwd", "b"), ("home", "a"), ("installed", "b"), ("installed", "c")):
        put(places[place], f"pipelines/{name}.yaml")
    assert paths.known_names("pipelines") == ["a", "b", "c"]


def test_the_installed_data_is_found_in_this_checkout() -> None:
    assert (paths.installed_data_dir() / "callm_voice").is_dir() or paths.installed_data_dir().name == "_data"


def test_the_cache_is_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CALLM_VOICE_CACHE", str(tmp_path))
    assert paths.cache_dir() == tmp_path
    monkeypatch.setenv("CALLM_VOICE_CACHE", "")
    assert paths.cache_dir().is_absolute()

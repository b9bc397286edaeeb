"""`packs new` makes a pack that works, anywhere, and refuses what it cannot make."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.packnew import new_pack
from callm_voice.bench.resolve import resolve
from callm_voice.cli.commands import app
from callm_voice.core.errors import UsageError
from callm_voice.desk.pack import load_pack

pytestmark = pytest.mark.unit


def test_the_new_pack_has_its_name_two_roles_three_tools_and_a_task(tmp_path):
    pack = load_pack(new_pack("bike_shop", tmp_path))
    assert (pack.id, len(pack.roles), len(pack.tools), pack.task_ids()) == ("bike_shop", 2, 3, ["C1-E1"])


@pytest.mark.parametrize("name", ["", "Bike", "1shop", "bike-shop", "a/b", "..", "x" * 61])
def test_a_name_that_cannot_be_an_id_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="cannot name a pack"):
        new_pack(name, tmp_path)


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    folder = new_pack("bike_shop", tmp_path)
    (folder / "pack.yaml").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        new_pack("bike_shop", tmp_path)
    assert (folder / "pack.yaml").read_text() == "mine"


def test_a_pack_in_the_users_folder_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["packs", "new", "bike_shop"])
    assert result.exit_code == 0
    spec = CallSpec(task="bike_shop/C1-E1", model="oracle", line="text", run_dir=tmp_path / "runs")
    assert resolve(spec).pack.path == tmp_path / "packs" / "bike_shop"

"""The documentation does not drift: tables are those of the models, links lead somewhere, options in examples exist."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from callm_voice.bench import doc_tables, doc_words, telemetry_genai, telemetry_spans
from callm_voice.cli.reference import reference
from callm_voice.core.record import CallRecord

pytestmark = pytest.mark.meta
ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
READ = [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES, *sorted((ROOT / "docs").glob("*/*.md"))]
"""All that somebody reads, the tables' pages among them."""
OURS = [ROOT / "docs" / f"{name}.md" for name in ("call-folder", "models", "pipelines-and-lines")]


@cache
def command_line() -> str:
    return reference()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_tables_of_a_page_are_what_the_models_say(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert doc_tables.filled(text) == text, "run python -m callm_voice.bench.doc_tables and commit docs/"


def test_every_table_stands_on_one_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in OURS)
    assert {name: text.count(doc_tables.BEGIN.format(name)) for name in doc_tables.TABLES} == dict.fromkeys(
        doc_tables.TABLES, 1
    )


@pytest.mark.parametrize("name", doc_tables.TABLES)
def test_every_field_has_a_meaning(name: str) -> None:
    empty = [row for row in doc_tables.TABLES[name]().splitlines() if row.endswith("|  |")]
    assert empty == [], "write a docstring under the field, or a line in doc_words.COMMON"


def test_the_call_folder_page_names_every_key_of_the_record() -> None:
    page = (ROOT / "docs" / "call-folder.md").read_text(encoding="utf-8")
    assert [key for key in CallRecord.model_fields if f"`{key}`" not in page] == []


def test_no_word_is_kept_for_a_field_that_is_gone() -> None:
    tables = "\n".join(table() for table in doc_tables.TABLES.values())
    fields = set(re.findall(r"`(?:[a-z_]+\.)*([a-z_0-9]+)`", tables))
    assert set(doc_words.COMMON) - fields == set()
    assert set(doc_words.KINDS) - fields == set()


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def anchors(page: Path) -> frozenset[str]:
    """What `#...` behind a page can name: its headings as hosts of repositories write them, and ids set by hand."""
    text = page.read_text(encoding="utf-8")
    outside_blocks = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", outside_blocks, re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return frozenset(made | set(re.findall(r'<a id="([^"]+)"', text)))


@pytest.mark.parametrize("page", READ, ids=named)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    wrong = []
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)", page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in PAGES if p.name != "README.md" and f"({p.name})" not in index] == []


@pytest.mark.parametrize("page", READ, ids=named)
def test_the_options_in_examples_are_those_of_the_commands(page: Path) -> None:
    known = command_line()
    lines = page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    example = re.compile(r"(\$ )?([A-Z_]+=\S+ )*(\.venv/bin/)?callm-voice ")
    for line in (text for text in lines if example.match(text.strip())):
        command = re.search(r"callm-voice ((?:[a-z]+ ?)+)", line)
        assert command is not None
        section = next((s for s in known.split("## `callm-voice ")[1:] if command[1].startswith(s.split("`")[0])), None)
        assert section is not None, line
        for option in re.findall(r" (--[a-z-]+)", line):
            assert f"`{option}`" in section, f"{line}: {option}"


def test_the_index_names_every_extra_and_every_variable() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
    assert {extra for extra in extras - {"dev"} if f"`{extra}`" not in index} == set()
    variable = re.compile(r"\b(?:CALLM_(?:API|VOICE)_[A-Z_]+|HF_HUB_OFFLINE|OPENAI_API_KEY)\b")
    files = [*(ROOT / "callm_voice").rglob("*.py"), *(ROOT / "verifier").rglob("*.py")]
    read = {name for file in files for name in variable.findall(file.read_text("utf-8"))}
    assert {name for name in read if not re.search(rf"\b{name}\b", index)} == set()


def test_the_telemetry_page_names_every_attribute_and_no_other() -> None:
    name = re.compile(r"(callm|gen_ai|server|error)\.[a-z0-9_.]*[a-z0-9]")
    literals = {
        node.value
        for module in (telemetry_genai, telemetry_spans)
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    sent = {text for text in literals if name.fullmatch(text)} - set(telemetry_genai.PROVIDERS.values())
    page = (ROOT / "docs" / "telemetry.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"`({name.pattern})`", page))
    assert {full for full, _ in named} - {"error.type", "gen_ai.system"} == sent

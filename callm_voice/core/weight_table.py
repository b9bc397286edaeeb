"""The list of model files, `callm_voice/weights.toml`: what each must hash to and where it can come from."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

import callm_voice
from callm_voice.core.errors import ConfigError, NotFoundError

TABLE_FILE = "weights.toml"
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$")]
"""A plain name: no separator, not hidden, so that it can never leave its folder."""
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Requirement = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][0-9A-Za-z.]*$")]
NpmRelease = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*@[0-9][0-9A-Za-z.-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Part(_Strict):
    """A member of a package that is (a piece of) a file. The package is a wheel or an npm tarball."""

    wheel: Requirement | None = None
    """`NAME==VERSION` on PyPI."""
    npm: NpmRelease | None = None
    """`NAME@VERSION` on npm."""
    member: str
    """Exact name inside the package."""

    @model_validator(mode="after")
    def _one_package(self) -> Part:
        if (self.wheel is None) == (self.npm is None):
            raise ValueError("expected either `wheel` or `npm`")
        return self

    @property
    def package(self) -> str:
        """The package's name and version, as its own client takes it."""
        return self.wheel or self.npm or ""


class WeightFile(_Strict):
    """One file of a weight."""

    name: FileName
    bytes: Annotated[int, Field(gt=0)]
    sha256: Sha256
    hub_path: str = ""
    """Path in the hub's repository; empty: not there."""
    parts: tuple[Part, ...] = ()
    """Joined in order."""
    package_path: str = ""
    """Path inside the installed `package`."""


class Weight(_Strict):
    """One model or voice."""

    title: str
    licence: str
    kind: Literal["file", "folder"] = Field(alias="is")
    default: bool = False
    hub: str = ""
    """`OWNER/REPOSITORY@REVISION`; empty: not on the hub."""
    package: str = ""
    """An installed library that carries the files; nothing is downloaded then."""
    package_extra: str = ""
    files: tuple[WeightFile, ...] = Field(min_length=1)

    @property
    def total_bytes(self) -> int:
        """Sum over the files."""
        return sum(file.bytes for file in self.files)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that carry it, each once, in order."""
        return tuple(dict.fromkeys(part.package for file in self.files for part in file.parts))


def parse_table(text: str, path: Path) -> dict[str, Weight]:
    """The table of a TOML text.

    Raises:
        ConfigError: not TOML, or not of this form.
    """
    try:
        return {name: Weight.model_validate(entry) for name, entry in tomllib.loads(text).items()}
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(path, "", f"not valid TOML: {error}") from error
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        raise ConfigError(path, ".".join(str(part) for part in finding["loc"]), finding["msg"]) from error


@cache
def table() -> dict[str, Weight]:
    """The installed table, by name."""
    path = Path(callm_voice.__file__).with_name(TABLE_FILE)
    return parse_table(path.read_text(encoding="utf-8"), path)


def weight(name: str) -> Weight:
    """One weight.

    Raises:
        NotFoundError: no such name; lists the known ones.
    """
    known = table()
    if name not in known:
        raise NotFoundError("weight", name, list(known))
    return known[name]


def default_names() -> list[str]:
    """What is pulled when no name is given, in the table's order."""
    return [name for name, entry in table().items() if entry.default]

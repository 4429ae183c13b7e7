"""What an import is given: one file's bytes and what a person declares about it.

Belongs here: declarations, from an import.toml and from the command line, and which of them wins. Not here: reading
the file (reader.py) and what happens where a declaration contradicts it (facts.py).
"""

from __future__ import annotations

import datetime as dt
import fnmatch
import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipeline.errors import RegistryError
from pipeline.plain_text import refuse_control_characters
from pipeline.registry.loader import registry_error

Plain = Annotated[str, AfterValidator(refuse_control_characters)]
Word = Annotated[Plain, Field(min_length=1, max_length=300)]
Count = Annotated[int, Field(gt=0, lt=10**9)]


@dataclass(frozen=True)
class SourceFile:
    """One result file. ``name`` is a relative path or a base name; it is evidence only where the content is silent.

    ``beside`` is the content, by name, of files in its folder that may say more about it (companions.py).
    """

    name: str
    content: bytes
    beside: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes, in hex."""
        return hashlib.sha256(self.content).hexdigest()


class Declared(BaseModel):
    """What a person says about a file. None is not said. Names and units are those of the POINTS columns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gpu: Word | None = None
    n_gpus: Count | None = None
    engine: Word | None = None
    engine_build: Word | None = None
    precision: Word | None = None
    model: Word | None = None
    workload: Word | None = None
    input_len_tok: Count | None = None
    output_len_tok: Count | None = None
    run_date: dt.date | None = None
    run_id: Word | None = None
    spec_method: Word | None = None
    disaggregated: bool | None = None
    multinode: bool | None = None
    kv_offload: Word | None = None
    tp: Count | None = None
    pp: Count | None = None
    ep: Count | None = None
    dp_attention: bool | None = None
    n_workers: Count | None = None
    concurrency: Count | None = None
    run_url: Annotated[Plain, Field(pattern=r"^https?://[^\s\"'<>]+$", max_length=2000)] | None = None

    def over(self, other: Declared) -> Declared:
        """The two merged; what this one says wins."""
        said = self.model_dump(exclude_none=True)
        return other.model_copy(update=said)


@dataclass(frozen=True)
class ImportToml:
    """One import.toml: defaults for every file beside it, and blocks for the files that match a pattern."""

    defaults: Declared
    blocks: tuple[tuple[str, Declared], ...]


def parse_declared(text: str, where: str) -> ImportToml:
    """An import.toml to declarations. Raises RegistryError for an unknown key, naming the nearest known one.

    Top-level keys are defaults; ``[files."glob"]`` blocks override them for matching file names.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RegistryError(f"not TOML ({error})", where=where, next_step="Correct the line that it names.") from None
    except RecursionError:
        raise RegistryError("nested too deeply", where=where, next_step="Write plain keys and blocks.") from None
    files = raw.pop("files", {})
    if not isinstance(files, dict):
        raise RegistryError("key 'files' is not a table", where=where, next_step='Write [files."pattern"] blocks.')
    blocks = tuple((glob, _declared(body, f'{where} [files."{glob}"]')) for glob, body in files.items())
    return ImportToml(_declared(raw, where), blocks)


def _declared(body: object, where: str) -> Declared:
    if not isinstance(body, dict):
        raise RegistryError("not a block", where=where, next_step='Write it as a [files."pattern"] block.')
    try:
        return Declared.model_validate(body)
    except ValidationError as error:
        raise registry_error(error, Declared, where) from None


def declared_from_options(options: Mapping[str, object]) -> Declared:
    """Command-line options, keyed by column, to a declaration; None is not said. Raises RegistryError."""
    return _declared({key: value for key, value in options.items() if value is not None}, "command line")


def declared_for(import_toml: ImportToml | None, file_name: str, command_line: Declared) -> Declared:
    """What is declared of one file: the command line wins over a file block, a block over the defaults.

    A pattern is matched against the whole name and against its last part; of several blocks the later one wins.
    """
    if import_toml is None:
        return command_line
    declared = import_toml.defaults
    base = file_name.rsplit("/", 1)[-1]
    for glob, block in import_toml.blocks:
        if fnmatch.fnmatchcase(file_name, glob) or fnmatch.fnmatchcase(base, glob):
            declared = block.over(declared)
    return command_line.over(declared)

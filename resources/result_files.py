"""Result files as people have them: finding them, their import.toml, and reading them within a size limit."""

import os
from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from pipeline.errors import UnreadableFileError
from pipeline.imports.companions import companion_names
from pipeline.imports.source import Declared, SourceFile, declared_for, parse_declared

IMPORT_TOML = "import.toml"
MAX_TOML_MIB = 1


class ResultFiles(dg.ConfigurableResource):
    """Reads source files. A file above ``max_mib`` is refused, not read: its rows would not fit in memory."""

    max_mib: int = 512

    def find(self, paths: Sequence[str]) -> list[Path]:
        """The files of the paths, folders searched through. Raises UnreadableFileError for a path that is not there."""
        found: dict[Path, None] = {}
        for path in map(Path, paths):
            if not path.exists():
                raise UnreadableFileError("no such file or folder", where=shown(str(path)), next_step="Check the path.")
            if not path.is_dir() and not path.is_file():
                raise UnreadableFileError(
                    "not a file", where=shown(str(path)), next_step="Name a regular file or a folder."
                )
            files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
            found |= {f: None for f in files if f.name != IMPORT_TOML and not _hidden(f, path)}
        if not found:
            raise UnreadableFileError("holds no files", where=", ".join(paths), next_step="Name a result file.")
        return list(found)

    def read(self, path: Path) -> SourceFile:
        """One file's bytes, and those of the files that belong to it. Raises UnreadableFileError."""
        try:
            content = self._content(path)
            beside = (path.with_name(name) for name in companion_names(path.name))
            return SourceFile(
                shown(path.name), content, {shown(p.name): self._content(p) for p in beside if p.is_file()}
            )
        except OSError as error:
            raise UnreadableFileError(
                f"cannot be read ({error.strerror})", where=shown(str(path)), next_step="Check its permissions."
            ) from error

    def _content(self, path: Path) -> bytes:
        _refuse_large(path, self.max_mib, "Split it, or raise the limit with --max-mib.")
        return path.read_bytes()

    def declared(self, path: Path, command_line: Declared) -> Declared:
        """What is declared for one file: the command line, then the import.toml beside it. Raises RegistryError."""
        beside = path.parent / IMPORT_TOML
        if not beside.is_file():
            return command_line
        try:
            _refuse_large(beside, MAX_TOML_MIB, "Declarations are some lines; remove what else it holds.")
            text = beside.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFileError(
                f"cannot be read ({error})", where=str(beside), next_step="Save it as UTF-8 text."
            ) from error
        return declared_for(parse_declared(text, str(beside)), path.name, command_line)


def refuse_unrecordable(paths: Sequence[str]) -> None:
    """Refuse a path that no record of a run can hold. Raises UnreadableFileError."""
    for path in paths:
        if shown(path) != path:
            raise UnreadableFileError(
                "a name that no record can hold", where=shown(path), next_step="Rename it, or name its folder."
            )


def shown(name: str) -> str:
    """A name as text: bytes that are no UTF-8, line ends and control characters are written out."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _refuse_large(path: Path, max_mib: int, next_step: str) -> None:
    size = path.stat().st_size
    if size > max_mib * 2**20:
        raise UnreadableFileError(
            "too large",
            where=shown(str(path)),
            expected=f"at most {max_mib} MiB",
            found=f"{size / 2**20:.0f} MiB",
            next_step=next_step,
        )


def _hidden(file: Path, under: Path) -> bool:
    parts = file.relative_to(under).parts if file != under else (file.name,)
    return any(part.startswith(".") for part in parts)

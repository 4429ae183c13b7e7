"""Result files as people have them: finding them, their import.toml, and reading them within a size limit."""

from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from pipeline.errors import UnreadableFileError
from pipeline.imports.source import Declared, SourceFile, declared_for, parse_declared

IMPORT_TOML = "import.toml"


class ResultFiles(dg.ConfigurableResource):
    """Reads source files. A file above ``max_mib`` is refused, not read: its rows would not fit in memory."""

    max_mib: int = 512

    def find(self, paths: Sequence[str]) -> list[Path]:
        """The files of the paths, folders searched through. Raises UnreadableFileError for a path that is not there."""
        found: dict[Path, None] = {}
        for path in map(Path, paths):
            if not path.exists():
                raise UnreadableFileError("no such file or folder", where=str(path), next_step="Check the path.")
            if not path.is_dir() and not path.is_file():
                raise UnreadableFileError("not a file", where=str(path), next_step="Name a regular file or a folder.")
            files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
            found |= {f: None for f in files if f.name != IMPORT_TOML and not _hidden(f, path)}
        if not found:
            raise UnreadableFileError("holds no files", where=", ".join(paths), next_step="Name a result file.")
        return list(found)

    def read(self, path: Path) -> SourceFile:
        """One file's bytes. Raises UnreadableFileError."""
        try:
            size = path.stat().st_size
            if size > self.max_mib * 2**20:
                raise UnreadableFileError(
                    "too large",
                    where=str(path),
                    expected=f"at most {self.max_mib} MiB",
                    found=f"{size / 2**20:.0f} MiB",
                    next_step="Split it, or raise the limit with --max-mib.",
                )
            return SourceFile(name=path.name, content=path.read_bytes())
        except OSError as error:
            raise UnreadableFileError(
                f"cannot be read ({error.strerror})", where=str(path), next_step="Check its permissions."
            ) from error

    def declared(self, path: Path, command_line: Declared) -> Declared:
        """What is declared for one file: the command line, then the import.toml beside it. Raises RegistryError."""
        beside = path.parent / IMPORT_TOML
        if not beside.is_file():
            return command_line
        try:
            text = beside.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFileError(
                f"cannot be read ({error})", where=str(beside), next_step="Save it as UTF-8 text."
            ) from error
        return declared_for(parse_declared(text, str(beside)), path.name, command_line)


def _hidden(file: Path, under: Path) -> bool:
    parts = file.relative_to(under).parts if file != under else (file.name,)
    return any(part.startswith(".") for part in parts)

"""A Python environment of its own: made, filled from locked wheels, asked, and made fit to be renamed."""

import importlib.metadata
import platform
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uv

from pipeline.builds.lock import normalised_name
from pipeline.builds.plan import HostPython
from resources.programs import Ended, ask, follow

WHEELS_ALONE = ("--require-hashes", "--only-binary", ":all:")
"""No package is built here: a lock names wheels, and nothing that is not in it is installed."""


def host_python() -> HostPython:
    """The Python that this process runs on, which environments are made with."""
    return HostPython(platform.python_version(), sysconfig.get_platform())


def installer_version(installer: str) -> str:
    """Name and version of uv or pip, as they are in the project's own environment."""
    return f"{installer} {importlib.metadata.version(installer)}"


@dataclass(frozen=True)
class PythonEnvironment:
    """One environment folder. ``descriptor`` is held open by every installer: the lock of whoever builds."""

    folder: Path
    descriptor: int

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages_folder(self) -> Path:
        """Where its packages are."""
        base = {"base": str(self.folder), "platbase": str(self.folder)}
        return Path(sysconfig.get_path("purelib", "venv", base))

    def make(self, on_line: Callable[[str], None]) -> Ended:
        """Make it empty, without an installer of its own. Raises OSError."""
        return follow([sys.executable, "-m", "venv", "--without-pip", str(self.folder)], self.descriptor, on_line)

    def install_with_uv(self, options: Sequence[str], on_line: Callable[[str], None]) -> Ended:
        """Install with the project's own uv. Raises OSError."""
        command = [uv.find_uv_bin(), "pip", "install", "--no-progress", "--python", str(self.python)]
        return follow([*command, *WHEELS_ALONE, *options], self.descriptor, on_line)

    def install_with_pip(self, options: Sequence[str], on_line: Callable[[str], None]) -> Ended:
        """Install with the project's own pip, under its own settings. Raises OSError."""
        quiet = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "install", *quiet]
        return follow([*command, *WHEELS_ALONE, *options], self.descriptor, on_line)

    def register(self, name: str, version: str) -> None:
        """Register a distribution whose wheel did not register itself. Raises OSError."""
        folder = self.packages_folder / f"{name}-{version}.dist-info"
        folder.mkdir()
        files = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: serving-frontier\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "INSTALLER": "serving-frontier\n",
        }
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        record = "".join(f"{folder.name}/{file},,\n" for file in (*files, "RECORD"))
        (folder / "RECORD").write_text(record, encoding="utf-8")

    def installed(self) -> dict[str, str]:
        """Version of every installed package by normalised name."""
        found = importlib.metadata.distributions(path=[str(self.packages_folder)])
        return {normalised_name(d.metadata["Name"]): d.version for d in found}

    def answer(self, code: str, arguments: Sequence[str], variables: dict[str, str], timeout_s: float) -> Ended:
        """Run a piece of Python code in it, from a folder that holds nothing to import. Raises OSError."""
        return ask([str(self.python), "-P", "-c", code, *arguments], variables, timeout_s)

    def lead_scripts_to(self, folder: Path) -> None:
        """Make its commands fit for the folder that it is renamed to: their first line names it. Raises OSError."""
        before, after = str(self.folder).encode(), str(folder).encode()
        for file in (self.folder / "bin").iterdir():
            if file.is_symlink() or not file.is_file():
                continue
            content = file.read_bytes()
            if before in content and b"\0" not in content[:1024]:
                _replace(file, content.replace(before, after))

    def size_mib(self) -> float:
        """Bytes of all its files, links not followed, in MiB."""
        files = (f for f in self.folder.rglob("*") if f.is_file() and not f.is_symlink())
        return round(sum(f.stat().st_size for f in files) / 2**20, 2)


def _replace(file: Path, content: bytes) -> None:
    """Write beside and rename: an installer may have linked the file to its own cache."""
    beside = file.with_name(f".tmp-{file.name}")
    beside.write_bytes(content)
    beside.chmod(file.stat().st_mode)
    beside.replace(file)

"""Wheels made on the spot, a folder to install them from, and plans whose locks name them."""

import base64
import hashlib
import zipfile
from pathlib import Path

from pipeline.builds.plan import Plan
from pipeline.registry.builds import Build, Environment

VERSION_CODE = "import tiny; print(tiny.__version__)"


def make_wheel(folder: Path, name: str = "tiny", version: str = "1.0", requires: str = "") -> str:
    """Write a wheel with one module and one command; returns the hash of its bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    requirement = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{name}.py": f"__version__ = {version!r}\ndef main():\n    print('I am', __file__)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requirement}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def lock_of(**hashes: str) -> str:
    """A lock that pins each name at 1.0 under its hash."""
    return "".join(f"{name}==1.0 \\\n    --hash=sha256:{sha256}\n" for name, sha256 in hashes.items())


def plan_of(lock: str, no_deps: str = "", version: str = "1.0", **environment: object) -> Plan:
    """A plan of the build `tiny`, installed with uv unless said otherwise."""
    named = {"installer": "uv", "lock": "tiny.lock", "version_code": VERSION_CODE}
    texts = {"tiny.lock": lock}
    if no_deps:
        named["lock_no_deps"] = "tiny_no_deps.lock"
        texts["tiny_no_deps.lock"] = no_deps
    build = Build(
        name="Tiny",
        role="load_generator",
        engine="tiny",
        version=version,
        host="any",
        environment=Environment(**{**named, **environment}),
    )
    return Plan("tiny", build, texts)

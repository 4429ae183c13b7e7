"""Arrows point down only: the layout of the code, read from its imports."""

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
COMMANDS = {f"pipeline.{path.stem}" for path in (CHECKOUT / "pipeline").glob("*_command.py")}
ABOVE = {"pipeline.cli", "pipeline.launch", "pipeline.housekeeping", "pipeline.definitions", *COMMANDS}
GLUE = {"pipeline.partitions", "pipeline.automation"}
ENGINES = {"vllm", "sglang", "torch"}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def level(name: str) -> int | None:
    """4 roots, 3 assets, 2 resources and Dagster glue, 1 the rest of the domain, None for anything foreign."""
    parts = name.split(".")
    if any(name == module or name.startswith(f"{module}.") for module in ABOVE):
        return 4
    if any(name == module or name.startswith(f"{module}.") for module in GLUE):
        return 2
    return {"assets": 3, "resources": 2, "pipeline": 1}.get(parts[0])


MODULES = [p for folder in ("pipeline", "assets", "resources") for p in sorted((CHECKOUT / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_a_module_imports_nothing_from_above_it(path):
    own = level(module_of(path))
    above = {name for name in imports_of(path) if (level(name) or 0) > own}
    assert not above


@pytest.mark.parametrize("path", [p for p in MODULES if level(module_of(p)) == 1], ids=module_of)
def test_the_domain_never_imports_dagster_or_the_outside(path):
    outside = {"dagster", "requests", "urllib.request", "subprocess", "socket", "tempfile", "shutil", "time", "os"}
    assert not {name for name in imports_of(path) if name in outside or name.split(".")[0] == "dagster"}


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_engines_are_never_imported(path):
    assert not {name for name in imports_of(path) if name.split(".")[0] in ENGINES}


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_files_stay_below_300_lines_and_functions_below_45(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 45, f"{node.name} is too long"


@pytest.mark.parametrize("root", ["cli", "definitions"])
def test_a_process_says_how_arrow_allocates_before_anything_imports_pyarrow(root):
    tree = ast.parse((CHECKOUT / "pipeline" / f"{root}.py").read_text(encoding="utf-8"))
    names = [n.names[0].name if isinstance(n, ast.Import) else n.module for n in tree.body if hasattr(n, "names")]
    assert next(name for name in names if level(name)) == "resources.arrow_memory"

"""What the top level promises: pins, workspace, no Dagster section that would hide the workspace file."""

import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from pipeline.definitions import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())


def test_pyproject_has_no_section_that_makes_dagster_ignore_the_workspace_file():
    assert not {"dg", "dagster"} & PROJECT["tool"].keys()


def test_every_dependency_is_pinned_exactly():
    groups = [PROJECT["project"]["dependencies"], PROJECT["dependency-groups"]["dev"]]
    assert all("==" in line for group in groups for line in group)


def test_dagster_and_its_webserver_have_one_version():
    pins = dict(line.split("==") for line in PROJECT["project"]["dependencies"])
    assert pins["dagster"] == pins["dagster-webserver"] == "1.13.27"


def test_the_lock_file_holds_every_pin_with_hashes():
    lock = (CHECKOUT / "requirements.lock").read_text()
    for line in [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]:
        assert f"\n{line} \\\n    --hash=sha256:" in f"\n{lock}"
    assert "://" not in lock


def test_the_engines_are_named_as_pins_and_never_installed_beside_dagster():
    extras = PROJECT["project"]["optional-dependencies"]
    assert (extras["vllm"], extras["sglang"]) == (["vllm==0.33.0"], ["sglang==0.5.23"])
    lock = (CHECKOUT / "requirements.lock").read_text()
    assert "\nvllm==" not in lock
    assert "\nsglang==" not in lock


def test_the_workspace_file_names_the_composition_root():
    location = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"][0]["python_module"]
    assert location["module_name"] == "pipeline.definitions"
    assert location["working_directory"] == "."


def test_dagster_validates_the_workspace(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "dagster", "definitions", "validate", "-w", "workspace.yaml"],
        cwd=CHECKOUT,
        env={"PATH": str(Path(sys.executable).parent), "DAGSTER_HOME": str(tmp_path), "FRONTIER_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

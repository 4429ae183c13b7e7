"""The registry is edited between processes, as people do: added, renamed, retired, deleted, and edited under a run.

Each act runs in a process of its own that reads the edited files, for a process reads them once.
"""

import json
import multiprocessing
from pathlib import Path

import pytest

from tests.faults import registry_acts as acts
from tests.faults.site_states import files_of


def told(act, home: Path, edits: dict[str, tuple[str, str]]) -> str:
    """What the command said in the end, "" where it went well."""
    receive, send = multiprocessing.get_context("spawn").Pipe(duplex=False)
    child = multiprocessing.get_context("spawn").Process(target=acts.edited, args=(act, home, edits, send))
    child.start()
    send.close()
    try:
        return receive.recv()
    except EOFError:
        return "it ended without a word"
    finally:
        child.join()


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("registry") / "home"
    assert told("seed_and_publish", folder, {}) == ""
    return folder


RUN = "run/deepseek_v4_1_flash-on-b300"


def named_elsewhere(gpu: str) -> dict[str, tuple[str, str]]:
    """The other files that name the GPU, which whoever renames one edits as well: they are refused otherwise."""
    recipes = {f"recipes_{kind}.toml": ('"b300"', f'"{gpu}"') for kind in ("simulated", "measured")}
    return recipes | {"cadences.toml": (" b300 ", f" {gpu} ")}


def readings(home: Path, run: str) -> list:
    return json.loads((home / "site" / run / "data.json").read_text())["ladder"]


def test_a_renamed_gpu_keeps_its_history_its_prices_and_its_addresses(home, copied):
    home, before = copied(home), home
    log = (home / "store/changes/changes.parquet").read_bytes()
    edits = {"gpus.toml": ("[b300]", "[b300_sxm]"), "renamed.toml": ("[gpus]", '[gpus]\nb300 = "b300_sxm"')}
    edits |= named_elsewhere("b300_sxm")
    assert told("publish", home, edits) == ""
    assert readings(home, f"{RUN}_sxm") == readings(before, RUN)
    moved = (home / "site" / RUN / "index.html").read_text()
    assert f'content="0; url=../../{RUN}_sxm/"' in moved
    assert f"/{RUN}/ /{RUN}_sxm/ 301" in (home / "site/_redirects").read_text()
    assert (home / "store/changes/changes.parquet").read_bytes() == log
    assert files_of(home / "store/imports") == files_of(before / "store/imports")
    again = files_of(home / "site")
    assert told("publish", home, edits) == ""
    assert files_of(home / "site") == again


def test_a_rename_is_undone_by_leading_the_new_slug_back(home, copied):
    home, before = copied(home), home
    edits = {"gpus.toml": ("[b300]", "[b300_sxm]"), "renamed.toml": ("[gpus]", '[gpus]\nb300 = "b300_sxm"')}
    assert told("publish", home, edits | named_elsewhere("b300_sxm")) == ""
    assert told("publish", home, {"renamed.toml": ("[gpus]", '[gpus]\nb300_sxm = "b300"')}) == ""
    assert readings(home, RUN) == readings(before, RUN)
    moved = (home / "site" / f"{RUN}_sxm" / "index.html").read_text()
    assert f'content="0; url=../../{RUN}/"' in moved


def test_a_renamed_model_keeps_its_history_and_its_addresses(home, copied):
    home, before = copied(home), home
    log = (home / "store/changes/changes.parquet").read_bytes()
    edits = {
        "models.toml": ("[deepseek_v4_1_flash]", "[ds_flash]"),
        "renamed.toml": ("[models]", '[models]\ndeepseek_v4_1_flash = "ds_flash"'),
        "recipes_measured.toml": ('"deepseek_v4_1_flash"', '"ds_flash"'),
    }
    assert told("publish", home, edits) == ""
    assert readings(home, "run/ds_flash-on-b300") == readings(before, RUN)
    assert 'url=../../run/ds_flash-on-b300/"' in (home / "site" / RUN / "index.html").read_text()
    assert (home / "store/changes/changes.parquet").read_bytes() == log


def test_a_deleted_block_with_results_is_refused_and_nothing_is_withdrawn(home, copied):
    home = copied(home)
    before = files_of(home / "site")
    edits = {"gpus.toml": ("[b300]", "[another]")}
    edits |= named_elsewhere("another")
    edits["prices.csv"] = ("\nb300,", "\nanother,")
    said = told("publish", home, edits)
    assert said.startswith("gpus.toml: results of the gpu 'b300' are stored, and no block is of it. Put its block back")
    assert files_of(home / "site") == before


def test_a_retired_gpu_is_not_swept_and_its_pages_stay_and_say_so(home, copied):
    home, before = copied(home), home
    edits = {"gpus.toml": ("[b300]\n", "[b300]\nretired = true\n")}
    said = told("sweep", home, edits)
    assert said.startswith("sweep b300|2026-11-01: the GPU is retired: its pages stay, and nothing is swept on it.")
    assert told("publish", home, edits) == ""
    assert readings(home, RUN) == readings(before, RUN)
    assert "B300 is retired here: it is no longer swept" in (home / "site" / RUN / "index.html").read_text()
    assert "(retired)" in (home / "site/gpu/b300/index.html").read_text()


def test_an_added_gpu_is_one_block(home, copied):
    block = '[new_gpu]\nname = "New GPU"\nvendor = "NVIDIA"\narchitecture = "X"\nformats = ["bf16"]\n\n[b300]\n'
    home = copied(home)
    assert told("seed_new_gpu_and_publish", home, {"gpus.toml": ("[b300]\n", block)}) == ""
    assert (home / "site/run/deepseek_v4_1_flash-on-new_gpu/index.html").is_file()
    assert (home / "site" / RUN / "index.html").is_file()


def test_an_edit_under_a_running_process_is_refused_and_the_site_stays(home, copied):
    home = copied(home)
    before = files_of(home / "site")
    said = told("publish_after_an_edit", home, {})
    assert said.startswith("pipeline/registry: was edited since this process began")
    assert "Run the same again; in the UI, reload the code location first." in said
    assert files_of(home / "site") == before

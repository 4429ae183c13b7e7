"""The engine_builds stage through the graph and the command line, with a builder that installs nothing."""

import datetime as dt

import dagster as dg
import pytest

from pipeline.builds.fingerprint import Fingerprint
from pipeline.builds.plan import Plan
from pipeline.definitions import build_defs
from pipeline.errors import BuildError
from pipeline.registry.builds import Build, Server
from resources.clock import Clock
from resources.dagster_runs import Runs
from resources.engine_builder import Built, EngineBuilder
from tests.commands import exit_code_of
from tests.fakes.inference_server import serving, vllm_server
from tests.instances import passing_instance
from tests.io.images import image_plan, make_world
from tests.io.tiny_wheels import lock_of, make_wheel, plan_of


class NoInstaller(EngineBuilder):
    """Says that everything is built, and refuses SGLang."""

    def build(self, plan: Plan, started_at: dt.datetime, say) -> Built:
        if plan.build.engine == "sglang":
            raise BuildError("it does not run", where=plan.slug, next_step="Correct the cause.")
        say(f"{plan.slug}: installing")
        fingerprint = Fingerprint(
            build=plan.slug, build_hash="0123456789abcdef", engine=plan.build.engine, version=plan.build.version,
            host=plan.build.host, reported_version=plan.build.version, python="3.11.7", platform="linux-x86_64",
            installer="uv 1", torch=None, packages=plan.pins()[:2], lock_sha256={"x.lock": "0" * 64}, size_mib=991.5,
            seconds=5.9, built_at=started_at,
        )  # fmt: skip
        return Built(plan.build, self.folder(plan), fingerprint, reused=False)


@pytest.fixture
def runs(tmp_path):
    with passing_instance(tmp_path) as instance:
        replaced = {"engine_builder": NoInstaller(root_dir=str(tmp_path)), "clock": Clock(fixed_day="2026-11-01")}
        yield Runs(build_defs(tmp_path / "home", replaced), instance)


def test_a_materialization_carries_the_fingerprint_and_the_hash_as_its_version(runs):
    metadata = runs.run("build_engine", partition="simulator")
    assert (metadata["reported_version"], metadata["n_packages"], metadata["reused"]) == ("1.4.2", 2, False)
    assert metadata["fingerprint"]["built_at"] == "2026-11-01T00:00:00Z"
    assert list(metadata["fingerprint"]["packages"]) == ["ai-dynamo", "ai-dynamo-runtime"]
    event = runs.instance.get_latest_materialization_event(dg.AssetKey("engine_builds"))
    assert event.asset_materialization.partition == "simulator"
    assert event.asset_materialization.tags["dagster/data_version"] == "0123456789abcdef"


@pytest.fixture
def three_kinds(tmp_path, monkeypatch):
    """Runs over an environment, an image and a running server, under the slugs of three shipped builds."""
    world = make_world(tmp_path / "far")
    with serving(vllm_server()) as fake, passing_instance(tmp_path) as instance:
        server = Build(
            name="Ours", role="engine", engine="vllm", version="0.33.0", host="cuda", server=Server(url=fake.url)
        )
        plans = {
            "aiperf": plan_of(lock_of(tiny=make_wheel(tmp_path / "wheels"))),
            "vllm_rocm": image_plan(),
            "vllm_cuda": Plan("ours", server, {}),
        }
        monkeypatch.setattr("assets.engine_builds.shipped_plan", plans.__getitem__)
        builder = EngineBuilder(
            root_dir=str(tmp_path / "builds"), wheels_dir=str(tmp_path / "wheels"), containers=world.program
        )
        yield Runs(build_defs(tmp_path / "home", {"engine_builder": builder}), instance)


@pytest.mark.parametrize(
    ("slug", "kind", "version", "knows_its_size"),
    [
        ("aiperf", "environment", "1.0", True),
        ("vllm_rocm", "image", "1.0", True),
        ("vllm_cuda", "server", "0.33.0", False),
    ],
)
def test_every_kind_of_build_shows_its_fingerprint(three_kinds, slug, kind, version, knows_its_size):
    metadata = three_kinds.run("build_engine", partition=slug)
    assert (metadata["kind"], metadata["reported_version"], metadata["reused"]) == (kind, version, False)
    assert (metadata["size_mib"] is not None, metadata["n_packages"] is not None) == (knows_its_size, knows_its_size)
    shown = metadata["fingerprint"]
    assert metadata["source"] in (
        *shown["lock_sha256"], (shown["image"] or {}).get("reference"), (shown["server"] or {}).get("url"),
    )  # fmt: skip
    event = three_kinds.instance.get_latest_materialization_event(dg.AssetKey("engine_builds"))
    assert event.asset_materialization.tags["dagster/data_version"] == shown["build_hash"]


def test_a_build_that_fails_fails_its_own_run_with_its_sentence(runs):
    with pytest.raises(BuildError, match=r"sglang_cpu: it does not run\. Correct the cause\."):
        runs.run("build_engine", partition="sglang_cpu")


@pytest.fixture
def frontier(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = exit_code_of("build", *arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_list_names_every_build_and_what_is_here(frontier):
    code, said, _ = frontier("--list")
    assert code == 0
    assert all(word in said for word in ("vllm_cuda", "0.33.0", "sglang_cpu", "0.5.23", "aiperf", "simulator", "–"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["vllm_cp"], "unknown build 'vllm_cp'. Did you mean 'vllm_cpu'?"), ([], "Name a build, or ask for --list")],
)
def test_a_mistake_is_one_sentence(frontier, arguments, words):
    code, _, said = frontier(*arguments)
    assert code in (1, 2)
    assert words in " ".join(said.split())


@pytest.mark.network
def test_the_simulator_is_built_for_real_and_found_the_second_time(frontier):
    code, said, _ = frontier("simulator")
    assert code == 0
    assert said.startswith("simulator 1.4.2: built in ")
    code, said, _ = frontier("simulator")
    assert said.startswith("simulator 1.4.2: found as it was, ")
    assert "simulator" in frontier("--list")[1]

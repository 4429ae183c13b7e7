"""Acts under an edited registry. The edits are made before anything of the product that reads it is imported."""

import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path

Edits = Mapping[str, tuple[str, str]]


def edited(act: str, home: Path, edits: Edits, answer: Connection) -> None:
    """Run an act of this module with texts of the registry replaced, first against second; send what it said."""
    from importlib import resources

    folder = Path(str(resources.files("pipeline.registry")))
    real = Path.read_text

    def read_text(path: Path, *arguments: object, **options: object) -> str:
        text = real(path, *arguments, **options)  # type: ignore[arg-type]
        if path.parent == folder and path.name in edits:
            old, new = edits[path.name]
            assert old in text
            text = text.replace(old, new)
        return text

    Path.read_text = read_text  # type: ignore[method-assign]
    from pipeline.errors import FrontierError

    try:
        globals()[act](home)
        answer.send("")
    except FrontierError as error:
        answer.send(str(error))


def _launch(home: Path):
    """The command line's own way to the jobs, with a fixed day."""
    os.environ["FRONTIER_HOME"] = str(home)
    from pipeline.launch import Launch

    return Launch.at_home()


def seed_and_publish(home: Path) -> None:
    _seed(home, "b300")
    publish(home)


def seed_new_gpu_and_publish(home: Path) -> None:
    _seed(home, "new_gpu")
    publish(home)


def _seed(home: Path, gpu: str) -> None:
    from tests.faults import acts

    with acts.opened(home) as graph:
        graph.derive(graph.seed(*acts.OLD, name=f"{gpu}.json", gpu=gpu))


def publish(home: Path) -> None:
    """frontier publish."""
    from pipeline.publish_command import publish_pages

    with _launch(home) as launch:
        publish_pages(launch, launch.gpus_with_results(), "")


def sweep(home: Path) -> None:
    from tests.faults import acts

    with acts.opened(home) as graph:
        graph.runs.run("run_sweep", partition=f"b300|{acts.AS_OF}", config={"sweep": {"kind": "simulated"}})


def publish_after_an_edit(home: Path) -> None:
    from pipeline.registry import shipped

    read = shipped.shipped_text
    shipped.shipped_text = lambda file: read(file) + ("\n# edited" if file == "gpus.toml" else "")
    publish(home)

"""Stands where docker or podman does: the same command line in, and containers that are child processes.

Its world is the folder that FAKE_CONTAINERS names. ``images.json`` there: what a registry holds, by reference, each as
its inspection. ``here.json``: the references that were pulled. ``asked.log``: every command line, one a line.
``containers/<name>``: a container that runs, with its pid. ``hang``: the next container never ends by itself.
``down``: nobody says which containers there are.
Code runs in this program's own Python, on modules that it finds in ``site``. Killing this program leaves a container.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

WORLD = Path(os.environ["FAKE_CONTAINERS"])
CONTAINERS = WORLD / "containers"
WITH_VALUE = {
    "--name", "--pull", "--env", "--network", "--workdir", "--entrypoint", "--publish", "--volume", "--device", "--ipc",
}  # fmt: skip


def read(file: str) -> dict:
    path = WORLD / file
    return json.loads(path.read_text()) if path.exists() else {}


def fail(sentence: str) -> int:
    print(f"Error: {sentence}", file=sys.stderr)
    return 125


def pull(reference: str) -> int:
    if reference not in read("images.json"):
        return fail(f"manifest for {reference} not found")
    print(f"Digest: {reference.partition('@')[2]}")
    (WORLD / "here.json").write_text(json.dumps({**read("here.json"), reference: True}))
    return 0


def inspect(reference: str) -> int:
    if reference not in read("here.json"):
        print("[]")
        return fail(f"{reference}: image not known")
    print(json.dumps([read("images.json")[reference]]))
    return 0


def inspect_container(name: str) -> int:
    here = CONTAINERS / name
    print(json.dumps([{"State": {"Running": True, "Pid": int(here.read_text())}}] if here.exists() else []))
    return 0 if here.exists() else 1


def list_containers(name: str) -> int:
    if (WORLD / "down").exists():
        return fail("cannot connect to the daemon")
    print("".join(f"{name}\n" for _ in CONTAINERS.glob(name)), end="")
    return 0


def run(arguments: list[str]) -> int:
    options: dict[str, list[str]] = {}
    while arguments and arguments[0].startswith("-"):
        flag = arguments.pop(0)
        options.setdefault(flag, []).append(arguments.pop(0) if flag in WITH_VALUE else "")
    reference, *command = arguments
    if reference not in read("here.json"):
        return fail(f"{reference}: image not known")
    variables = dict(pair.split("=", 1) for pair in options.get("--env", []))
    if (WORLD / "hang").exists():
        command = ["-c", "import time; time.sleep(600)"]
    inside = subprocess.Popen(
        [sys.executable, *command],
        env={"PYTHONPATH": str(WORLD / "site"), "PATH": os.environ["PATH"], **variables},
        start_new_session=True,
    )
    CONTAINERS.mkdir(exist_ok=True)
    here = CONTAINERS / options["--name"][0]
    here.write_text(str(inside.pid))
    signal.signal(signal.SIGTERM, lambda *_: inside.terminate())
    code = inside.wait()
    here.unlink(missing_ok=True)
    return 128 - code if code < 0 else code


def end(name: str) -> int:
    here = CONTAINERS / name
    if not here.exists():
        return fail(f"no such container: {name}")
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(here.read_text()), signal.SIGKILL)
    here.unlink(missing_ok=True)
    return 0


def main(arguments: list[str]) -> int:
    with (WORLD / "asked.log").open("a", encoding="utf-8") as log:
        log.write(json.dumps(arguments) + "\n")
    match arguments:
        case ["--version"]:
            print("Docker version 99.0, a fake")
            return 0
        case ["pull", reference]:
            return pull(reference)
        case ["image", "inspect", reference]:
            return inspect(reference)
        case ["container", "inspect", name]:
            return inspect_container(name)
        case ["ps", "--all", "--quiet", "--filter", named]:
            return list_containers(named.removeprefix("name="))
        case ["run", *rest]:
            return run(rest)
        case ["rm", "--force", name] | ["kill", name]:
            return end(name)
    return fail(f"unknown command {arguments}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

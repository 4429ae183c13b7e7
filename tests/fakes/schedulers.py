"""Stand for sbatch, squeue, sacct, scancel and kubectl: a folder of files in the place of a cluster.

Called as PROGRAM FOLDER ARGUMENTS…. FOLDER holds ``asked`` (every command, one a line), ``job`` (the number or name of
the job, absent where there is none), ``states`` (one line a look, the last one stays), ``outcome``, and ``said``: what
the job's log holds at each look, looks separated by a line with ---.
"""

import json
import sys
from pathlib import Path


def next_of(file: Path, separator: str) -> str:
    """The first part of a file, which is taken off it unless it is the last one."""
    if not file.exists():
        return ""
    first, found, rest = file.read_text().partition(separator)
    if found:
        file.write_text(rest)
    return first


def slurm(program: str, folder: Path, arguments: list[str]) -> str:
    job = folder / "job"
    if program == "sbatch":
        job.write_text("7")
        return "7;cluster\n"
    if program == "squeue" and "--format=%i" in arguments:
        return job.read_text() + "\n" if job.exists() else ""
    if program == "squeue":
        said = next_of(folder / "said", "---\n")
        log = next(folder.glob("home/jobs/*.sh"), folder / "home/jobs/x.sh").with_suffix(".log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            file.write(said)
        state = next_of(folder / "states", "\n").strip()
        return f"{state}\n" if state and job.exists() else ""
    if program == "scancel":
        job.unlink()
        return ""
    return (folder / "outcome").read_text()


def kubectl(folder: Path, arguments: list[str]) -> str:
    job = folder / "job"
    verb = arguments[1]
    if verb == "create":
        manifest = json.load(sys.stdin)
        job.write_text(manifest["metadata"]["name"])
        (folder / "manifest.json").write_text(json.dumps(manifest))
    elif verb == "delete":
        job.unlink(missing_ok=True)
    elif verb == "get" and job.exists():
        return next_of(folder / "states", "\n")
    elif verb == "logs":
        return (folder / "said").read_text() if (folder / "said").exists() else ""
    return ""


def main() -> None:
    program, folder, arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    with (folder / "asked").open("a") as asked:
        asked.write(f"{program} {' '.join(arguments)}\n")
    if (folder / "away").exists():
        print("the scheduler is away", file=sys.stderr)
        sys.exit(1)
    answer = kubectl(folder, arguments) if program == "kubectl" else slurm(program, folder, arguments)
    sys.stdout.write(answer)


if __name__ == "__main__":
    main()

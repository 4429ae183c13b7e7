"""The load generator AIPerf: a process in an environment of its own that sends one point's load and records it.

Belongs here: its folder, its tokenizer, its files, and what its ending means. Not here: what is asked
(pipeline/sweep/load.py), what records mean (pipeline/sweep/load_records.py), the process tree (load_process.py).
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
from pydantic import Field

from pipeline.errors import LoadError
from pipeline.registry.measured import Load
from pipeline.sweep.load import (
    REPEAT,
    Batch,
    Places,
    PointLoad,
    aiperf_config,
    aiperf_variables,
    batches,
    made_trace,
    trace_format,
)
from pipeline.sweep.load_records import Counted, RepeatAnswer, cancelled_records, counted, records_of, repeat_answers
from resources.built import Built
from resources.load_process import CpuTime, RunEnded, Watch, run_watched
from resources.load_progress import LoadProgress
from resources.progress import Say

CHILD = Path(__file__).with_name("load_child.py")
RECORDS = Path("artifacts/profile_export.jsonl")
LOG = Path("artifacts/logs/aiperf.log")
REVISION = "0" * 40
TEMP_PREFIX, SOCKETS_PREFIX = ".tmp-", "frontier-load-"
MAX_TRACE_CHARACTERS = 2**28
LOCAL_TOKENIZER = "local/tokenizer"
TOKENIZER_FILES = ("*token*", "*.jinja", "vocab*", "merges*", "*.model", "config.json", "*.tiktoken")

Alive = Callable[[], str | None]


@dataclass(frozen=True)
class Endpoint:
    """Where the load goes."""

    url: str
    api_key: str


@dataclass(frozen=True)
class LoadAnswer:
    """What one point's load gave. ``ended`` says why it stopped early, None where it ran to its end.

    ``client_cpu_s`` and ``wall_s`` are of the whole load generator, its start included; ``client_cpu_cores`` is the
    highest of the repeats' own [CPU seconds a second], None where no repeat was long enough to say.
    """

    repeats: tuple[RepeatAnswer, ...]
    client_cpu_s: float
    wall_s: float
    ended: str | None
    counted: Counted
    client_cpu_cores: float | None

    @property
    def client_input_tok(self) -> int | None:
        """Input tokens of the successful measured requests as the client made them; None where it does not know."""
        return self.counted.input_tok

    @property
    def client_output_tok(self) -> int | None:
        """Output tokens that the client asked for in them; None where it does not know."""
        return self.counted.output_tok


class LoadGenerator(dg.ConfigurableResource):
    """Runs ``child`` with the interpreter of a build. Its files are under ``root_dir`` while it runs.

    ``silence_s``: without a sign of life for so long, beyond what one request may take, it is ended.
    """

    root_dir: str
    child: str = str(CHILD)
    silence_s: float = Field(default=300, gt=0)

    def run(self, built: Built, load: PointLoad, endpoint: Endpoint, alive: Alive, say: Say) -> LoadAnswer:
        """Send the load and return what was recorded. Raises LoadError where nothing was.

        ``alive`` is asked twice a second: an answer, why the server ended, ends the load at once.
        """
        start_s, cpu = time.monotonic(), CpuTime()
        repeats: list[RepeatAnswer] = []
        ended = None
        for batch in batches(load):
            with own_folder(Path(self.root_dir), TEMP_PREFIX) as folder, _sockets_folder() as sockets:
                run = _Run(built, load, batch, endpoint, folder, sockets)
                ended, records = self._run_batch(run, alive, say, cpu)
            repeats += repeat_answers(records, load, batch)
            if ended:
                break
        return LoadAnswer(
            repeats=tuple(repeats),
            client_cpu_s=cpu.seconds,
            wall_s=time.monotonic() - start_s,
            ended=ended,
            counted=counted(load, [row for repeat in repeats for row in repeat.requests]),
            client_cpu_cores=_busiest(cpu, repeats),
        )

    def refuse_unreadable(self, load: Load) -> None:
        """Raises LoadError where the recipe's prompts cannot be read, before a server is started for them."""
        if load.prompts is not None:
            _prompts(load.prompts)

    def _run_batch(self, run: "_Run", alive: Alive, say: Say, cpu: CpuTime) -> tuple[str | None, list[dict[str, Any]]]:
        config = run.folder / "load.json"
        config.write_text(json.dumps(aiperf_config(run.load, run.batch, _places(run))), encoding="utf-8")
        records, log = run.folder / RECORDS, run.folder / LOG
        progress = LoadProgress(run.load, run.batch, records, say)
        watch = Watch(alive, self.silence_s + run.load.request_timeout_s, (records, log), progress.tell)
        command = [str(run.built.python), "-I", self.child, "profile", "--config", str(config)]
        cpu.start_process()
        ended = run_watched(command, _variables(run), run.folder, watch, cpu)
        found = records_of(_lines(records))
        return _why(ended, run, found), found + cancelled_records(_lines(log), found)


@contextmanager
def own_folder(root: Path, prefix: str) -> Iterator[Path]:
    """A folder of this process under ``root``, gone with the block; those of processes that were killed go first."""
    root.mkdir(parents=True, exist_ok=True)
    for left in root.glob(f"{prefix}*-*"):
        owner = left.name.removeprefix(prefix).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-", dir=root, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _sockets_folder() -> AbstractContextManager[Path]:
    """Where its processes meet: a socket's path has 107 characters at most, and folders of results are deep."""
    return own_folder(Path(tempfile.gettempdir()), SOCKETS_PREFIX)


@dataclass(frozen=True)
class _Run:
    """One process of the load generator: whose it is, what it sends where, its folder and that of its sockets."""

    built: Built
    load: PointLoad
    batch: Batch
    endpoint: Endpoint
    folder: Path
    sockets: Path


def _places(run: _Run) -> Places:
    """Put the tokenizer and the data set into the folder, and say where they are. Raises LoadError."""
    trace, form = _trace(run)
    tokenizer = Path(run.load.tokenizer)
    name = run.load.tokenizer
    if tokenizer.is_dir():
        name = LOCAL_TOKENIZER
        _as_hub_cache(tokenizer, run.folder / "hub")
    return Places(
        url=run.endpoint.url,
        api_key=run.endpoint.api_key,
        tokenizer_name=name,
        has_chat_template=_has_chat_template(tokenizer),
        artifacts=str(run.folder / RECORDS.parent),
        trace=str(trace) if trace else "",
        trace_format=form,
    )


def _trace(run: _Run) -> tuple[Path | None, str]:
    made = made_trace(run.load)
    if made:
        path = run.folder / "trace.jsonl"
        path.write_text("".join(f"{line}\n" for line in made), encoding="utf-8")
        return path, "mooncake_trace"
    if run.load.load.prompts is None:
        return None, ""
    return _prompts(run.load.load.prompts)


def _prompts(prompts: str) -> tuple[Path, str]:
    """A recipe's file of prompts and its form. Raises LoadError."""
    path = Path(prompts).expanduser().resolve()
    try:
        form = _trace_format(path)
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(
            f"cannot be read ({error})", where=str(path), next_step="Correct load.prompts of the recipe."
        ) from error
    if not form:
        raise LoadError(
            "is no file of prompts that can be sent",
            where=str(path),
            expected="one JSON object a line, a Mooncake or Weka trace or prompts under text",
            next_step="Correct load.prompts of the recipe.",
        )
    return path, form


def _trace_format(path: Path) -> str:
    """The form of a file, one object a line or one object in all, or of a folder of such files."""
    first = min(path.iterdir(), default=path / "a file") if path.is_dir() else path
    with first.open(encoding="utf-8") as file:
        line = file.readline()
        return trace_format(line) or trace_format(line + file.read(MAX_TRACE_CHARACTERS))


def _as_hub_cache(tokenizer: Path, hub: Path) -> None:
    """The tokenizer as a hub's local copy: AIPerf takes a folder's path for prompts that it makes, not for traces."""
    repository = hub / f"models--{LOCAL_TOKENIZER.replace('/', '--')}"
    snapshot = repository / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(REVISION, encoding="utf-8")
    for file in {file for pattern in TOKENIZER_FILES for file in tokenizer.glob(pattern) if file.is_file()}:
        shutil.copyfile(file, snapshot / file.name)


def _has_chat_template(tokenizer: Path) -> bool:
    if (tokenizer / "chat_template.jinja").is_file():
        return True
    settings = tokenizer / "tokenizer_config.json"
    return settings.is_file() and bool(json.loads(settings.read_text(encoding="utf-8")).get("chat_template"))


def _variables(run: _Run) -> dict[str, str]:
    """Everything that it writes beside its results goes into a folder of its own too."""
    own = {"TMPDIR": str(run.sockets), "PYTHONDONTWRITEBYTECODE": "1"}
    if Path(run.load.tokenizer).is_dir():
        own["HF_HUB_CACHE"] = str(run.folder / "hub")
    return aiperf_variables(run.load) | own


def _why(ended: RunEnded, run: _Run, records: list[dict[str, Any]]) -> str | None:
    """Why the run stopped early, None where it did not. Raises LoadError where it failed before any request.

    AIPerf ends with a code other than 0 also where every request failed: those records are the answer.
    """
    if ended.why is not None:
        return ended.why
    if records:
        return None if _is_complete(run, records) else f"the load generator ended with exit code {ended.code}"
    raise LoadError(
        f"ended with exit code {ended.code} and sent nothing",
        where=f"load generator {run.built.folder.name}",
        found=_last_words(run.folder),
        next_step="Correct the recipe's load, or build the load generator again.",
        kind="client_ended",
    )


def _is_complete(run: _Run, records: list[dict[str, Any]]) -> bool:
    """Whether every measured phase recorded something."""
    seen = {record["metadata"].get("phase_name") for record in records}
    first, n_repeats = run.batch.first_repeat, run.batch.n_repeats
    return all(f"{REPEAT}_{index}" in seen for index in range(first, first + n_repeats))


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []


def _last_words(folder: Path) -> str:
    said = [line.strip(" │╭╮╰╯─") for line in _lines(folder / "output.txt")]
    return " / ".join([line for line in said if line][-6:])[-800:] or "no output"


def _busiest(cpu: CpuTime, repeats: list[RepeatAnswer]) -> float | None:
    used = [cpu.cores(repeat.first_ns, repeat.last_ns) for repeat in repeats]
    return max((cores for cores in used if cores is not None), default=None)

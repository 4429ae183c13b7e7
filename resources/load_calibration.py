"""The load generator's own error at a concurrency: measured once a day against the scripted server, then remembered.

Belongs here: running both and keeping the answer. Not here: the arithmetic (pipeline/sweep/calibration.py).
"""

import datetime as dt
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import dagster as dg

from pipeline.errors import LoadError
from pipeline.sweep.byte_tokenizer import byte_tokenizer
from pipeline.sweep.calibration import SCRIPT, ClientError, calibration_load, calibration_trace, client_error
from resources.atomic_files import write_bytes
from resources.built import Built
from resources.load_generator import Endpoint, LoadGenerator, own_folder
from resources.progress import Say
from resources.scripted_server import scripted_server

TEMP_PREFIX = "frontier-calibration-"


class LoadCalibration(dg.ConfigurableResource):
    """Answers are kept under ``root_dir``/<build's hash>/<concurrency>-<UTC day>.json."""

    root_dir: str

    def error(self, generator: LoadGenerator, built: Built, concurrency: int, day: dt.date, say: Say) -> ClientError:
        """The client's error at this concurrency on this host, measured where it is not known for the day.

        Raises LoadError where no request of the load came through.
        """
        kept = Path(self.root_dir) / built.folder.name / f"{concurrency}-{day}.json"
        if kept.is_file():
            return ClientError(**json.loads(kept.read_text(encoding="utf-8")))
        say(f"load generator: its own error at concurrency {concurrency}, against a server of known timing")
        found = measure_client_error(generator, built, concurrency)
        write_bytes(kept, json.dumps(asdict(found)).encode())
        return found


def measure_client_error(generator: LoadGenerator, built: Built, concurrency: int) -> ClientError:
    """The client's error at this concurrency, measured now, in about 17 s. Raises LoadError."""
    with own_folder(Path(tempfile.gettempdir()), TEMP_PREFIX) as folder, scripted_server(SCRIPT) as url:
        trace, tokenizer = folder / "trace.jsonl", folder / "tokenizer"
        trace.write_text("".join(f"{line}\n" for line in calibration_trace(concurrency)), encoding="utf-8")
        tokenizer.mkdir()
        for file, content in byte_tokenizer().items():
            (tokenizer / file).write_text(content, encoding="utf-8")
        load = calibration_load(concurrency, str(trace), str(tokenizer))
        answer = generator.run(built, load, Endpoint(url, ""), lambda: None, lambda line: None)
    found = client_error([row for repeat in answer.repeats for row in repeat.requests])
    if found is None:
        raise LoadError(
            f"no request to the scripted server succeeded at concurrency {concurrency}",
            where=f"load generator {built.folder.name}",
            found=answer.ended or "failures only",
            next_step="Build the load generator again.",
            kind="client_ended",
        )
    return found

"""Made models on disk: one folder a model, named by the hash of what it was made from, and complete or absent.

Belongs here: running made_model_child.py with the interpreter of an engine build, and the folders. Not here: what a
model is (pipeline/sweep/made_models.py).
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import dagster as dg
from pydantic import Field

from pipeline.errors import EngineError
from pipeline.sweep.made_models import MadeModel
from resources.atomic_files import TEMP_PREFIX, put_in_place, sha256_of
from resources.file_lock import held
from resources.programs import ask

CHILD = Path(__file__).with_name("made_model_child.py")
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OPENBLAS_NUM_THREADS": "1"}


def refuse_missing_weights(weights: str, recipe: str) -> None:
    """Raises EngineError where the weights are a folder by their spelling (/…, ./…, ~/…) and it is not there."""
    if weights.startswith(("/", ".", "~")) and not Path(weights).expanduser().is_dir():
        raise EngineError(
            "the folder of its weights is not there",
            where=recipe,
            found=weights,
            next_step="Correct 'weights' of the recipe.",
            kind="no_model",
        )


class MadeModels(dg.ConfigurableResource):
    """Folders under ``root_dir``/<name>-<hash>/, used by every engine and by the load generator alike."""

    root_dir: str
    make_timeout_s: float = Field(default=300, gt=0)

    def folder(self, model: MadeModel) -> Path:
        """Where the model is, whether it exists or not. What makes it is part of the name."""
        order = json.dumps(model.order(), sort_keys=True).encode()
        return Path(self.root_dir) / f"{model.name}-{sha256_of(order + CHILD.read_bytes())[:16]}"

    def make(self, model: MadeModel, python: Path, say: Callable[[str], None]) -> Path:
        """The folder of the model, filled now where it is not there. Raises EngineError, leaving nothing.

        ``python`` is the interpreter of an engine build: it has tokenizers, numpy and safetensors.
        """
        folder = self.folder(model)
        if folder.is_dir():
            return folder
        try:
            with held(folder.parent / ".lock", lambda: say(f"{model.name}: waiting for another maker of models")):
                if not folder.is_dir():
                    say(f"making the model {model.name}, {model.n_parameters / 1e6:.1f} M parameters")
                    self._fill(model, python, folder)
        except OSError as error:
            raise _failed(model, str(folder), error.strerror or str(error)) from error
        return folder

    def _fill(self, model: MadeModel, python: Path, folder: Path) -> None:
        for leftover in folder.parent.glob(f"{TEMP_PREFIX}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        temp = Path(tempfile.mkdtemp(prefix=TEMP_PREFIX, dir=folder.parent))
        try:
            order = json.dumps({**model.order(), "folder": str(temp)})
            ended = ask([str(python), "-I", str(CHILD)], ONE_THREAD, self.make_timeout_s, order)
            if ended.code:
                raise _failed(model, str(python), ended.tail())
            temp.chmod(0o755)
            put_in_place(temp, folder)
        finally:
            shutil.rmtree(temp, ignore_errors=True)


def _failed(model: MadeModel, where: str, found: str) -> EngineError:
    return EngineError(
        f"the model {model.name} cannot be made",
        where=where,
        found=found,
        next_step="Nothing of it is kept; correct the cause and run the same command again.",
        kind="no_model",
    )

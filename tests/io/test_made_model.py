"""Folders of made models: complete or absent, made once, named by what they are made from."""

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from pipeline.definitions import CHECKOUT
from pipeline.errors import EngineError
from pipeline.sweep.made_models import SMALL, TINY
from resources import made_model
from resources.made_model import MadeModels

PYTHON = Path(sys.executable)


@pytest.fixture(autouse=True)
def _fake_child(monkeypatch):
    monkeypatch.setattr(made_model, "CHILD", CHECKOUT / "tests" / "fakes" / "made_model_child.py")


@pytest.fixture
def models(tmp_path):
    return MadeModels(root_dir=str(tmp_path))


def left_in(models) -> list[str]:
    return sorted(path.name for path in Path(models.root_dir).iterdir() if path.name != ".lock")


def test_a_model_is_made_once_and_named_by_its_order(models):
    heard = []
    folder = models.make(TINY, PYTHON, heard.append)
    assert folder.name.startswith("tiny-")
    assert len(folder.name) == len("tiny-") + 16
    assert json.loads((folder / "config.json").read_text()) == TINY.order()
    assert models.make(TINY, Path("/absent"), heard.append) == folder
    assert heard == ["making the model tiny, 0.2 M parameters"]
    assert left_in(models) == [folder.name]


def test_another_shape_seed_or_maker_is_another_folder(models, tmp_path, monkeypatch):
    before = models.folder(TINY)
    assert models.folder(dataclasses.replace(TINY, seed=1)) != before
    assert models.folder(dataclasses.replace(TINY, context_tok=1)) != before
    assert models.folder(SMALL) != before
    child = tmp_path / "child.py"
    child.write_text(made_model.CHILD.read_text() + "# changed\n")
    monkeypatch.setattr(made_model, "CHILD", child)
    assert models.folder(TINY) != before


def test_a_maker_that_dies_leaves_nothing_and_is_one_sentence(models):
    with pytest.raises(EngineError, match="the model broken cannot be made; found no tokenizers here") as error:
        models.make(dataclasses.replace(TINY, name="broken"), PYTHON, print)
    assert error.value.kind == "no_model"
    assert left_in(models) == []


def test_what_an_interrupted_maker_left_is_removed(models, tmp_path):
    (tmp_path / ".tmp-half").mkdir()
    folder = models.make(TINY, PYTHON, print)
    assert left_in(models) == [folder.name]


def test_an_interpreter_that_is_not_there_is_one_sentence(models):
    with pytest.raises(EngineError, match="the model tiny cannot be made; found No such file or directory"):
        models.make(TINY, Path("/absent/python"), print)

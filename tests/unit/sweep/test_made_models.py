import json

import pytest

from pipeline.errors import RegistryError
from pipeline.sweep.made_models import MADE_MODELS, SMALL, TINY, made_model, training_lines


@pytest.mark.parametrize(
    ("weights", "model"),
    [("made:tiny", TINY), ("made:small", SMALL), ("someone/model", None), ("/models/made:tiny", None)],
)
def test_made_weights_name_a_model_and_others_do_not(weights, model):
    assert made_model(weights, "here") is model


def test_an_unknown_made_model_is_one_sentence():
    with pytest.raises(
        RegistryError, match="here: no such made model 'huge'; expected made:tiny or made:small, found made:huge"
    ):
        made_model("made:huge", "here")


def test_parameters_are_counted_from_the_shape():
    # tiny: 2 × 1024 × 64 embeddings, 2 layers of 4 × 64² + 3 × 64 × 128 + 2 × 64, and 64 of the last norm
    assert TINY.n_parameters == 131_072 + 2 * (16_384 + 24_576 + 128) + 64 == 213_312
    assert round(SMALL.n_parameters / 1e6) == 28


@pytest.mark.parametrize("model", MADE_MODELS.values(), ids=lambda m: m.name)
def test_every_head_is_wider_than_16_and_a_long_trace_fits(model):
    assert model.hidden % model.n_heads == 0
    assert model.hidden // model.n_heads >= 32
    assert model.context_tok >= 8192


def test_an_order_is_plain_and_always_the_same():
    assert json.loads(json.dumps(SMALL.order())) == SMALL.order()
    assert training_lines() == training_lines()
    assert all(line.isascii() for line in training_lines())

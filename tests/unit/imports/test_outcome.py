"""An outcome adds up, or it cannot exist."""

import pytest

from pipeline.imports.outcome import Outcome, Rejected
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS


def test_rows_that_are_neither_points_nor_rejected_are_impossible():
    with pytest.raises(AssertionError, match="0 valid \\+ 0 invalid \\+ 1 rejected is not 2 read"):
        Outcome("x", 2, POINTS.empty(), REQUESTS.empty(), (Rejected(0, "gpu_missing", "…"),), ())


def test_an_outcome_of_rejected_rows_alone_adds_up():
    outcome = Outcome("x", 1, POINTS.empty(), REQUESTS.empty(), (Rejected(0, "gpu_missing", "…"),), ())
    assert (outcome.n_valid, outcome.n_invalid, outcome.n_rejected) == (0, 0, 1)

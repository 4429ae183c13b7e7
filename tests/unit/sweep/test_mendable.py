import pickle

import pytest

from pipeline.errors import (
    BuildError,
    DeviceError,
    EngineError,
    FrontierError,
    LoadError,
    SimulatorError,
    SweepFailedError,
    SweepRefusedError,
)
from pipeline.sweep.mendable import MENDABLE, mendable
from pipeline.sweep.server_end import FAILURES

SAID = {"where": "h100", "next_step": "Wait."}


def error(type_: type[FrontierError], **more: str) -> FrontierError:
    return type_("it went wrong", **SAID, **more)


@pytest.mark.parametrize(
    "failure",
    [
        error(DeviceError, kind="in_use"),
        error(EngineError),
        error(EngineError, kind="crashed"),
        error(EngineError, kind="killed"),
        error(EngineError, kind="silent"),
        error(LoadError, kind="client_ended"),
        error(SimulatorError, kind="crashed"),
        error(BuildError, kind="unreachable"),
        error(SweepFailedError, kind="crashed"),
        ConnectionResetError(104, "Connection reset by peer"),
        TimeoutError("timed out"),
    ],
    ids=str,
)
def test_what_was_only_so_for_a_while_can_be_mended(failure):
    assert mendable(failure)


@pytest.mark.parametrize(
    "failure",
    [
        error(SweepRefusedError),
        error(DeviceError),
        error(EngineError, kind="out_of_memory"),
        error(EngineError, kind="wrong_flag"),
        error(EngineError, kind="stranger"),
        error(EngineError, kind="no_model"),
        error(LoadError),
        error(BuildError),
        error(SimulatorError),
        error(SweepFailedError),
        OSError(28, "No space left on device"),
        ValueError("a defect"),
        KeyboardInterrupt(),
    ],
    ids=repr,
)
def test_a_refusal_a_lack_of_memory_an_unknown_flag_missing_weights_and_a_defect_cannot(failure):
    assert not mendable(failure)


def test_every_way_in_which_a_server_fails_is_decided():
    assert FAILURES.keys() <= MENDABLE.keys()


def test_a_kind_crosses_a_process_border():
    for failure in (error(EngineError, kind="silent"), error(EngineError), error(DeviceError, kind="in_use")):
        again = pickle.loads(pickle.dumps(failure))
        assert (type(again), str(again), again.kind) == (type(failure), str(failure), failure.kind)

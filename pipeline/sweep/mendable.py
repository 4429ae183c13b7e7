"""Which failures of a sweep a retry can mend: what was only so for a while, and nothing that is decided by the request.

Belongs here: the table of kinds. Not here: retrying (assets/sweep.py), and what a failed point becomes
(broken_off.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.errors import FrontierError

MENDABLE: Mapping[str, bool] = {
    "in_use": True,  # another sweep holds the device, and ends
    "killed": True,
    "crashed": True,
    "stopped": True,
    "silent": True,
    "port_taken": True,
    "client_ended": True,  # the load client sent nothing, or its simulator gave no answer
    "unreachable": True,  # a server, the package index or a hub did not answer
    "wrong_flag": False,
    "out_of_memory": False,
    "stranger": False,
    "no_model": False,
}
"""Kinds of errors (FrontierError.kind). One without a kind is refused for what was asked: a retry asks the same."""

N_RETRIES = 2
"""Of a sweep that a schedule or sensor asked for."""

WAIT_S = 120.0
"""Before a retry: long enough for a device to be given back, short against a sweep."""


def mendable(error: BaseException) -> bool:
    """Whether the same sweep, run again a little later, may end otherwise.

    A lost connection and a question that timed out are, also where nothing of ours says so; an unknown error is not:
    it is a defect, or a full disk.
    """
    if isinstance(error, FrontierError):
        return MENDABLE.get(error.kind, False)
    return isinstance(error, ConnectionError | TimeoutError)

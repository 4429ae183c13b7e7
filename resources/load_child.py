"""The far side of the load generator: runs in AIPerf's own environment, never imported by this project.

Runs AIPerf's command line in this process, which leads a process group of its own. When standard input ends, because
whoever started it has ended, the whole group does: killed parents leave no load behind.
"""

import os
import runpy
import signal
import sys
import threading


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.killpg(os.getpgid(0), signal.SIGKILL)


def _free_lanes_between_phases() -> None:
    """Every phase begins with all of its lanes free.

    AIPerf 0.13 frees the lanes of sessions that a phase broke off when the phase's last answer comes. Where the phase
    ends while every session waits for its tool, that answer came before, and no later phase sends anything.
    """
    from aiperf.timing.concurrency import ConcurrencyManager

    configure = ConcurrencyManager.configure_for_phase

    def free_and_configure(manager, phase, *arguments, **named):
        before = manager.__dict__.get("phase_before", phase)
        if before != phase:
            manager.release_stuck_slots(before)
        manager.phase_before = phase
        return configure(manager, phase, *arguments, **named)

    ConcurrencyManager.configure_for_phase = free_and_configure


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _free_lanes_between_phases()
    sys.argv[0] = "aiperf"
    runpy.run_module("aiperf", run_name="__main__", alter_sys=False)

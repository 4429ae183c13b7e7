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


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.argv[0] = "aiperf"
    runpy.run_module("aiperf", run_name="__main__", alter_sys=False)

"""Stands on the far side of the simulator's border: the same lines in and out, with numbers that can be checked by eye.

Every request takes 100 ms to the first token and 10 ms × concurrency a token; requests of one lane follow one another.
The file ``asked.log`` beside this script records what was asked. ``die_at`` beside it: the process dies at that replay;
``hang``: no profile is ever answered; ``hold_at``: from that many replays on, each waits until the file is gone.
"""

import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def profile(asked):
    if (HERE / "hang").exists():
        time.sleep(60)
    Path(asked["path"]).write_bytes(b"npz")
    return {"decode_ms": [10.0, 9.0, 12.0], "silicon_share": 0.4, "n_kv_blocks": 1000}


def hold():
    hold_at = HERE / "hold_at"
    while hold_at.exists() and (HERE / "asked.log").read_text().count("replay") >= int(hold_at.read_text()):
        time.sleep(0.05)


def replay(asked):
    die_at = HERE / "die_at"
    if die_at.exists() and die_at.read_text() == str(asked["concurrency"]):
        os._exit(9)
    hold()
    lines = [json.loads(line) for line in Path(asked["trace"]).read_text().splitlines()]
    step_ms = 10.0 * asked["concurrency"]
    ends, requests = [0.0] * asked["concurrency"], []
    for i, line in enumerate(lines):
        lane = i % len(ends)
        e2el_ms = 100.0 + step_ms * (line["output_length"] - 1)
        requests.append([ends[lane], 100.0, e2el_ms, line["input_length"], line["output_length"], 0])
        ends[lane] += e2el_ms
    report = {"num_requests": len(lines), "completed_requests": len(lines), "mean_itl_ms": step_ms}
    return {"report": report | {"wall_time_ms": os.getpid()}, "requests": requests}


def answer(asked):
    if asked["do"] == "versions":
        versions = HERE / "versions"
        return json.loads(versions.read_text()) if versions.exists() else dict(PINNED)
    return {"profile": profile, "replay": replay}[asked["do"]](asked)


PINNED = {"ai-dynamo": "1.4.2", "aiconfigurator": "0.12.0"}

if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        with (HERE / "asked.log").open("a") as log:
            log.write(asked["do"] + (f" {asked['concurrency']}" if asked["do"] == "replay" else "") + "\n")
        print(json.dumps({"ok": answer(asked)}), flush=True)

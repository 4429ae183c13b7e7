"""Stands on the far side of the load generator's border in a whole sweep: full lanes, no time spent.

Every phase has three requests a lane, one after the other. First token after 100 ms, then 10 ms a token and lane.
``does`` beside this script is what happens instead: ``kill_server FILE`` kills the server that the file of the device's
holder names, after the first phase, and waits; ``kill_itself`` ends this process by SIGKILL there; ``wait N`` waits
there if the concurrency is N; ``slower FACTOR`` takes so many times as long a token; ``kill_run FILE N`` kills the
sweep's own process, which that file names, at concurrency N, and ends with it.
``pace`` beside this script holds factors of the time of a token, one a repeat.
What was asked is appended to ``asked.log`` beside it, a line a run: the concurrency.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
START_NS = 1_800_000_000_000_000_000
N_TOK = 64


def record(phase: dict, lane: int, turn: int, start_ns: int, tpot_ms: float) -> dict:
    e2el_ms = 100.0 + tpot_ms * (N_TOK - 1)
    times = {"time_to_first_token": 100.0, "request_latency": e2el_ms}
    tokens = {"input_sequence_length": 256, "output_sequence_length": N_TOK, "usage_prompt_cache_read_tokens": 0}
    return {
        "metadata": {
            "conversation_id": f"{phase['name']}-{lane}-{turn}",
            "turn_index": 0,
            "request_start_ns": start_ns,
            "benchmark_phase": phase["kind"],
            "phase_name": phase["name"],
            "was_cancelled": False,
        },
        "metrics": {key: {"value": value, "unit": "ms"} for key, value in times.items()}
        | {key: {"value": value, "unit": "tokens"} for key, value in tokens.items()},
    }


def lines_of(phase: dict, first_ns: int, factor: float) -> list[str]:
    tpot_ms = 10.0 * phase["concurrency"] * factor
    e2el_ns = int((100.0 + tpot_ms * (N_TOK - 1)) * 1_000_000)
    return [
        json.dumps(record(phase, lane, turn, first_ns + turn * e2el_ns, tpot_ms))
        for lane in range(phase["concurrency"])
        for turn in range(3)
    ]


def main() -> None:
    config = json.loads(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())["benchmark"]
    with (HERE / "asked.log").open("a") as log:
        log.write(f"{config['phases'][0]['concurrency']}\n")
    does = (HERE / "does").read_text().split() if (HERE / "does").exists() else []
    factor = float(does[1]) if does[:1] == ["slower"] else 1.0
    pace = [float(word) for word in (HERE / "pace").read_text().split()] if (HERE / "pace").exists() else [1.0]
    folder = Path(config["artifacts"]["dir"])
    folder.mkdir(parents=True)
    with (folder / "profile_export.jsonl").open("a") as records:
        for index, phase in enumerate(config["phases"]):
            slower = factor * pace[index // 2 % len(pace)]  # a warm-up and a window are one repeat
            records.write("".join(f"{line}\n" for line in lines_of(phase, START_NS + index * 10**12, slower)))
            records.flush()
            if does[:1] == ["kill_server"]:
                os.kill(json.loads(Path(does[1]).read_text())["server"]["pid"], signal.SIGKILL)
                time.sleep(600)
            if does == ["wait", str(phase["concurrency"])]:
                time.sleep(600)
            if does[:1] == ["kill_run"] and phase["concurrency"] == int(does[2]):
                os.kill(json.loads(Path(does[1]).read_text())["run"]["pid"], signal.SIGKILL)
                sys.stdin.read()  # until that process is gone
            if does == ["kill_itself"]:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()

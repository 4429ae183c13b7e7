"""Stands on the far side of the load generator's border: reads the same configuration, writes the same records.

Each phase has two requests for prompts of its own, 1 s apart: first token after 100 ms, then 10 ms a token.
The file ``does`` beside this script names what else happens: ``crash`` after the first phase, ``refuse`` before any,
``garbage`` instead of records, ``hang`` after the first phase, ``stubborn`` the same with a child that ignores SIGTERM.
Process ids are written to ``pids`` beside it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
IGNORES = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
START_NS = 1_800_000_000_000_000_000


def record(phase, index, start_ns, n_tok):
    ms = {"time_to_first_token": 100.0, "request_latency": 100.0 + 10.0 * (n_tok - 1), "inter_token_latency": 10.0}
    tokens = {"input_sequence_length": 256, "output_sequence_length": n_tok, "usage_prompt_cache_read_tokens": 0}
    return {
        "metadata": {
            "conversation_id": f"session_{index}",
            "turn_index": 0,
            "request_start_ns": start_ns,
            "benchmark_phase": phase["kind"],
            "phase_name": phase["name"],
            "was_cancelled": False,
        },
        "metrics": {key: {"value": value, "unit": "ms"} for key, value in ms.items()}
        | {key: {"value": value, "unit": "tokens"} for key, value in tokens.items()},
    }


def send(phases, records, n_tok):
    for position, phase in enumerate(phases):
        for number in range(2):
            index = 2 * position + number
            start_ns = START_NS + index * 1_000_000_000
            with records.open("a") as file:
                file.write(json.dumps(record(phase, index, start_ns, n_tok)) + "\n")


def main():
    config = json.loads(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())["benchmark"]
    does = (HERE / "does").read_text() if (HERE / "does").exists() else ""
    pids = [os.getpid()]
    if does == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", IGNORES], stdout=subprocess.PIPE)
        child.stdout.readline()
        pids.append(child.pid)
    (HERE / "pids").write_text(json.dumps(pids))
    folder = Path(config["artifacts"]["dir"])
    folder.mkdir(parents=True)
    records = folder / "profile_export.jsonl"
    if does == "refuse":
        sys.exit("no such dataset")
    if does == "garbage":
        records.write_text('no json\n{"metadata": 1}\n[]\n')
        return
    n_tok = config["dataset"].get("prompts", {}).get("osl", 64)
    cut = does in ("crash", "hang", "stubborn")
    send(config["phases"][: 2 if cut else None], records, n_tok)
    if does == "crash":
        sys.exit(3)
    if cut:
        time.sleep(600)


if __name__ == "__main__":
    main()

"""Points by hand for a site with a page of every type. Two models, three GPUs, and everything that pages tell apart."""

import datetime as dt

from tests.unit.pages.pairs import h100_rows, point

NEWER = dt.date(2026, 10, 2)
FLASH, R1 = "deepseek_v4_1_flash", "deepseek_r1"

LATENCIES = {
    "e2el_p90_s": 12.0,
    "output_throughput_tok_s_gpu": 90.0,
    "n_successful": 900,
    "n_failed": 3,
    "window_s": 60.0,
}


def all_rows() -> dict[str, list[dict[str, object]]]:
    """Rows by the name of the file that they are imported from."""
    return {
        "measured.json": _measured(),
        "simulated.json": [point(x, 4000 - 20 * x, provenance="simulated", run_id="sim") for x in (20.0, 60.0, 110.0)],
        "readings.json": [
            point(x, 90000 - 500 * x, gpu="b300", provenance="imported", notes=["published_reading"], run_id="ladder")
            for x in (40.0, 75.0, 120.0)
        ],
        "empty.json": [
            point(None, None, gpu="h200", point_id="bad", valid=False, reasons=["no_success"], run_id="failed")
        ],
        "many.json": _many(),
        "markup.json": [
            point(x, 800 - x, gpu="b300", model=R1, engine_build='<img src=x onerror="alert(1)">', run_id="<b>&</b>")
            for x in (50.0, 80.0)
        ],
    }


def _measured() -> list[dict[str, object]]:
    older = h100_rows()
    spread = {"n_repeats": 3, "throughput_std_tok_s_gpu": 90.0, "interactivity_std_tok_s_user": 1.5}
    newer = [
        point(x, y, run_id="run2", run_date=NEWER, engine_build="v0.33.0", concurrency=n, **spread, **LATENCIES)
        for x, y, n in ((75.0, 11900.0, 48), (100.0, 9900.0, 32), (150.0, 7300.0, 16), (200.0, 5200.0, 8))
    ]
    return [*older, *newer]


def _many() -> list[dict[str, object]]:
    """500 points of ten series, 50 each; three of four lie below the frontier and every fifth is invalid."""
    rows = []
    for n in range(500):
        series, k = divmod(n, 50)
        engine = ("vllm", "sglang", "trtllm", "dynamo_vllm", "dynamo_sglang")[series % 5]
        rows.append(
            point(
                15.0 + 4 * k,
                (9000.0 - 150 * k) * (1 + series / 10) * (1 - 0.15 * (k % 4)),
                model=R1,
                engine=engine,
                engine_family="vllm",
                precision=("fp4", "fp8")[series // 5],
                point_id=f"many{n:04d}",
                concurrency=k + 1,
                topology=f"tp{2 ** (k % 4)}",
                engine_build=f"registry.example/images/{engine}:v0.{k % 3}.0",
                valid=n % 5 > 0,
                reasons=[] if n % 5 else ["no_success"],
                **LATENCIES,
            )
        )
    return rows

"""What the README takes over from elsewhere: column tables and measured speed. `make docs` writes, a test compares."""

from pathlib import Path

from pipeline.tables.markdown import columns_markdown
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES

CHECKOUT = Path(__file__).resolve().parents[2]
README = CHECKOUT / "README.md"


def with_parts(text: str) -> str:
    bench = [line for line in (CHECKOUT / "BENCH.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    columns = "\n\n".join(columns_markdown(table) for table in (POINTS, REPEATS, REQUESTS, SAMPLES, RUNS))
    return _filled(_filled(text, "speed", "\n".join(bench)), "columns", columns)


def _filled(text: str, name: str, part: str) -> str:
    start, end = f"<!-- {name}: written by make docs -->", f"<!-- end of {name} -->"
    head, rest = text.split(start)
    return f"{head}{start}\n\n{part}\n\n{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    README.write_text(with_parts(README.read_text(encoding="utf-8")), encoding="utf-8")

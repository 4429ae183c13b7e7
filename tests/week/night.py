"""One request in a process of its own, which the test kills: python -m tests.week.night '[root, moment, request]'."""

import json
import sys
from pathlib import Path

import pytest

from resources.dagster_runs import open_instance
from tests.week.world import Places, run_request, set_the_stage


def main() -> None:
    root, moment, asked = json.loads(sys.argv[1])
    places = Places(Path(root))
    with pytest.MonkeyPatch.context() as patch, open_instance(places.home) as instance:
        set_the_stage(patch, places)
        run_request(places, instance, moment, asked)


if __name__ == "__main__":
    main()

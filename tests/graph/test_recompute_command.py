"""The command that a run page prints, run on the published files."""

import html
import json
import re

import duckdb
import pytest


def test_the_command_on_the_page_gives_the_ladder_of_its_data(graph, monkeypatch):
    graph.derive(graph.seed((40.0, 10800.0), (60.0, 7200.0), (120.0, 2000.0)))
    graph.publish()
    folder = graph.home / "site" / "run" / "deepseek_v4_1_flash-on-b300"
    (command,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", (folder / "index.html").read_text(), re.DOTALL)
    sql = html.unescape(command).removeprefix('duckdb -c "').removesuffix('"')
    monkeypatch.chdir(graph.home / "site")
    found = {target: (tokens, *costs) for target, tokens, *costs in duckdb.sql(sql).fetchall()}
    ladder = {
        row["target_tok_s_user"]: row["at_least"] for row in json.loads((folder / "data.json").read_text())["ladder"]
    }
    assert sorted(found) == [30.0, 50.0, 75.0, 100.0]
    assert found[30.0][0] == 10800.0
    for target, (tokens, *costs) in found.items():
        assert tokens == pytest.approx(ladder[target]["throughput_tok_s_gpu"], rel=1e-12)
        assert costs == pytest.approx(list(ladder[target]["cost_usd_mtok"].values()), rel=1e-12)

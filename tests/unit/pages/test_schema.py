import json

import jsonschema
import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.page import to_json
from pipeline.pages.schema import page_schema
from tests.unit.pages.pairs import h100_rows, pair_of, point

VALIDATOR = jsonschema.Draft202012Validator(page_schema(), format_checker=jsonschema.FormatChecker())

CONTRACT = {
    "schema_version model gpu workload provenance as_of headline counts engines precisions run_dates ladder costs peak "
    "fastest frontier points runs faq": (),
    "slug name": ("model",),
    "slug name vendor architecture": ("gpu",),
    "slug name percentile description": ("workload",),
    "target_tok_s_user throughput_tok_s_gpu cost_usd_mtok price_tier engine precision basis delivered_tok_s_user": (
        "headline",
    ),
    "n_series n_configs n_points n_invalid_points": ("counts",),
    "first last": ("run_dates",),
    "throughput_tok_s_gpu delivered_tok_s_user basis engine precision point_ids cost_usd_mtok reason": (
        "ladder",
        0,
        "at_least",
    ),
    "throughput_tok_s_gpu engine precision cost_usd_mtok": ("ladder", 0, "at_target"),
    "tier name usd_per_gpu_hour valid_from source cost_usd_mtok": ("costs", 0),
    "total computed_input output": ("costs", 0, "cost_usd_mtok"),
    "throughput_tok_s_gpu interactivity_tok_s_user point_id": ("peak",),
    "ttft_s tpot_s point_id": ("fastest",),
    "series interactivity_tok_s_user throughput_tok_s_gpu point_id": ("frontier", 0),
    "question answer": ("faq", 0),
}


def data(rows) -> dict:
    return json.loads(to_json(build_sections(pair_of(rows))[0]))


@pytest.mark.parametrize(("names", "path"), CONTRACT.items())
def test_every_field_of_the_contract_is_there(names, path):
    node = data(h100_rows())
    for step in path:
        node = node[step]
    assert set(names.split()) <= set(node)


@pytest.mark.parametrize(
    "rows",
    [h100_rows(), [point(None, None, valid=False, reasons=["no_success"])], [point(3.0, 9.0, provenance="simulated")]],
    ids=["full", "only invalid", "one point"],
)
def test_data_json_follows_the_schema(rows):
    assert list(VALIDATOR.iter_errors(data(rows))) == []


@pytest.mark.parametrize(
    "change", [{"unknown": 1}, {"provenance": "guessed"}, {"as_of": "yesterday"}, {"headline": None}, {"points": None}]
)
def test_the_schema_refuses_what_is_not_the_contract(change):
    assert not VALIDATOR.is_valid(data(h100_rows()) | change)


def test_the_schema_refuses_a_missing_field():
    found = data(h100_rows())
    del found["peak"]["reason"]
    assert not VALIDATOR.is_valid(found)


def test_the_schema_names_its_draft_and_version():
    jsonschema.Draft202012Validator.check_schema(page_schema())
    assert page_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert page_schema()["version"] == data(h100_rows())["schema_version"] == "1.2"

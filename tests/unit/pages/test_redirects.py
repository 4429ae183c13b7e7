import pytest

from pipeline.errors import RegistryError
from pipeline.pages.checks import dead_links, page_links
from pipeline.pages.inputs import SiteFacts
from pipeline.pages.policy import policy_breaches
from pipeline.pages.redirects import old_addresses, redirect_files
from pipeline.registry.renamed import parse_renamed
from pipeline.registry.shipped import shipped_registry, shipped_renamed

PATHS = ["", "run/new-on-h100/", "run/newer-on-h100/", "model/new/", "compare/new/b300-vs-h100/", "gpu/h100/"]


def test_every_page_of_a_renamed_model_has_its_old_address():
    assert old_addresses(PATHS, {"old": "new"}) == {
        "run/old-on-h100/": "run/new-on-h100/",
        "model/old/": "model/new/",
        "compare/old/b300-vs-h100/": "compare/new/b300-vs-h100/",
    }


def test_an_old_address_leads_on_with_and_without_the_hosts_help():
    files = redirect_files({"run/old-on-h100/": "run/new-on-h100/"}, SiteFacts(base_url="https://example.org/"))
    html = files["run/old-on-h100/index.html"]
    assert '<meta http-equiv="refresh" content="0; url=../../run/new-on-h100/">' in html
    assert '<link rel="canonical" href="https://example.org/run/new-on-h100/">' in html
    assert files["_redirects"] == "/run/old-on-h100/ /run/new-on-h100/ 301\n"
    assert policy_breaches("run/old-on-h100/index.html", html) == []
    there = {"run/new-on-h100/index.html", "index.html", "style.css", "favicon.svg", "feed.xml"}
    assert (
        dead_links([page_links("run/old-on-h100/index.html", html)], there | {"changes/index.html", "data/index.html"})
        == []
    )


def test_without_a_renamed_slug_there_is_no_file():
    assert redirect_files({}, SiteFacts()) == {}
    assert old_addresses(PATHS, shipped_renamed().in_addresses) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[models]\ngpt_oss_120b = "deepseek_r1"', "gpt_oss_120b is in use"),
        ('[models]\nold = "nothing"', "leads to nothing, which is no model"),
        ('[gpus]\nh200 = "h100"', "h200 is in use"),
        ('[engines]\nold = "nothing"', "leads to nothing, which is no engine"),
        ('[tiers]\nold = "retail"', "not a list of renamed slugs"),
        ("[models", "not a list of renamed slugs"),
    ],
)
def test_a_wrong_rename_is_one_sentence(text, words):
    with pytest.raises(RegistryError, match=words):
        parse_renamed(text, shipped_registry())


def test_a_rename_to_a_known_model_is_read():
    assert parse_renamed('[models]\nold_name = "deepseek_r1"', shipped_registry()).models == {"old_name": "deepseek_r1"}

"""Lock files: exact pins with hashes, or a sentence that names the line."""

import pytest

from pipeline.builds.lock import Pin, parse_lock
from pipeline.errors import RegistryError

A, B = "a" * 64, "b" * 64
TEXT = f"Tiny_Engine[extra]==1.0+cpu ; sys_platform == 'linux' \\\n    --hash=sha256:{A} \\\n    --hash=sha256:{B}\n"


def test_a_pin_has_a_normalised_name_a_version_and_the_hashes_of_its_files():
    assert parse_lock("# a comment\n\n" + TEXT, "x.lock") == (
        Pin(name="tiny-engine", version="1.0+cpu", sha256=(A, B)),
    )


def test_pins_are_sorted_and_one_name_may_have_a_version_per_platform():
    text = "".join(f"{pin} \\\n    --hash=sha256:{A}\n" for pin in ("numpy==2.0", "attrs==1.0", "numpy==1.0"))
    assert [(p.name, p.version) for p in parse_lock(text, "x.lock")] == [
        ("attrs", "1.0"), ("numpy", "1.0"), ("numpy", "2.0"),
    ]  # fmt: skip


def test_an_empty_lock_pins_nothing():
    assert parse_lock("", "x.lock") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tiny>=1.0\n", "x.lock line 1: not a pin; found tiny>=1.0."),
        (TEXT + "--index-url somewhere\n", "x.lock line 4: not a pin"),
        ("tiny==1.0\n", "x.lock: tiny has no hash."),
        (f"    --hash=sha256:{A}\n", "x.lock line 1: not a pin"),
    ],
)
def test_anything_else_is_one_sentence(text, words):
    with pytest.raises(RegistryError) as error:
        parse_lock(text, "x.lock")
    assert words in str(error.value)
    assert "\n" not in str(error.value)

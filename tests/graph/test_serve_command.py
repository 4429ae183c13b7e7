"""`frontier serve` on a home folder."""


def test_serving_without_a_site_is_one_sentence(frontier):
    code, _, lines = frontier("serve", "--port", "0")
    assert (code, len(lines)) == (1, 1)
    assert "no site is published. Run frontier publish first." in lines[0]

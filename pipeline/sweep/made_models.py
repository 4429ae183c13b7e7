"""Models that are made on the spot: random weights in the shape of Llama, so that a server runs without any download.

Belongs here: their sizes, and the text that their tokenizer is trained on. Not here: making the files
(resources/made_model.py, and made_model_child.py in the environment of an engine).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.errors import RegistryError

MADE = "made:"
"""What ``weights`` of a recipe begin with where they name a model of this module."""


@dataclass(frozen=True)
class MadeModel:
    """One size. ``context_tok`` is the longest context [tokens]; hidden / heads is the width of a head.

    A head of 16 or less ends vLLM on a CPU, so tiny has two heads of 32.
    """

    name: str
    hidden: int
    intermediate: int
    n_layers: int
    n_heads: int
    vocabulary: int
    context_tok: int = 16_384
    seed: int = 20_240_101

    @property
    def n_parameters(self) -> int:
        """Weights: two embeddings, then four projections, three of the MLP and two norms a layer, and the last norm."""
        layer = 4 * self.hidden**2 + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return 2 * self.vocabulary * self.hidden + self.n_layers * layer + self.hidden

    def order(self) -> dict[str, object]:
        """Everything that decides the files, as plain values."""
        return {**dataclasses.asdict(self), "lines": training_lines()}


TINY = MadeModel("tiny", hidden=64, intermediate=128, n_layers=2, n_heads=2, vocabulary=1024)
"""For function tests: its tokens come faster than a client reads them, so its times mean nothing."""

SMALL = MadeModel("small", hidden=512, intermediate=1408, n_layers=8, n_heads=8, vocabulary=2048)
"""The smallest whose times mean anything on a CPU."""

MADE_MODELS: Mapping[str, MadeModel] = {model.name: model for model in (TINY, SMALL)}


def made_model(weights: str, where: str) -> MadeModel | None:
    """The model that ``weights`` names; None where they are a hub name or a folder. Raises RegistryError."""
    if not weights.startswith(MADE):
        return None
    name = weights.removeprefix(MADE)
    if name not in MADE_MODELS:
        raise RegistryError(
            f"no such made model {name!r}",
            where=where,
            expected=" or ".join(MADE + known for known in MADE_MODELS),
            found=weights,
            next_step="Correct 'weights'.",
        )
    return MADE_MODELS[name]


def training_lines() -> list[str]:
    """The lines that the byte-level tokenizer learns from: sentences of a few words, code, and words of two syllables.

    Sentences and code alone hold fewer pairs than the larger vocabulary needs.
    """
    prose = [" ".join(words) + "." for words in itertools.product(_WHO, _DOES, _WHAT, _WHERE)]
    calls = itertools.product(_NAMES, _CALLS, range(0, 100, 7))
    code = [f"    {name} = {call}({name}, {number})" for name, call, number in calls]
    syllables = ["".join(parts) for parts in itertools.product(_ONSETS, _RHYMES)]
    ends = [(i, 7 * i + 11 * j) for i in range(len(syllables)) for j in range(9)]
    words = [syllables[first] + syllables[second % len(syllables)] for first, second in ends]
    return prose + code + [" ".join(words[start : start + 12]) for start in range(0, len(words), 12)]


_WHO = ("The scheduler", "A server", "Every client", "One request", "Our engineer", "Some other process", "Nobody")
_DOES = ("reads", "writes", "compares", "keeps", "measures", "forgets", "returns", "explains", "would rather change")
_WHAT = (
    "the longest answer",
    "a short question",
    "its memory",
    "all tokens",
    "what was asked",
    "these numbers",
    "time",
)
_WHERE = ("in the morning", "before the window ends", "without a network", "on this machine", "after the last batch")
_NAMES = ("result", "index", "value", "request", "token", "window", "latency", "total")
_CALLS = ("append", "maximum", "parse", "self.update", "lookup", "round", "format", "measure", "await gather", "print")
_ONSETS = ("b", "br", "c", "ch", "d", "f", "g", "h", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "th", "v", "w")
_RHYMES = ("a", "al", "an", "ar", "e", "ed", "en", "er", "i", "in", "ing", "ion", "ist", "o", "on", "or", "ow", "u")

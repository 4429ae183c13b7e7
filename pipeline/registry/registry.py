"""The registry as one value, and finding an entry by any of its spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pipeline.errors import RegistryError
from pipeline.registry.entries import Engine, Entry, Gpu, Model, Tier, Workload
from pipeline.registry.loader import nearest

E = TypeVar("E", bound=Entry)


@dataclass(frozen=True)
class Registry:
    """All facts that people edit, but for prices, which have dates (entries.Price)."""

    gpus: Mapping[str, Gpu]
    models: Mapping[str, Model]
    engines: Mapping[str, Engine]
    workloads: Mapping[str, Workload]
    tiers: Mapping[str, Tier]
    renamed_gpus: Mapping[str, str] = field(default_factory=dict)
    """Today's slugs by former ones (renamed.toml)."""

    @property
    def swept_gpus(self) -> frozenset[str]:
        """Slugs of the GPUs that are not retired: only they are scheduled and swept."""
        return frozenset(slug for slug, gpu in self.gpus.items() if not gpu.retired)

    @property
    def agentic_workloads(self) -> tuple[str, ...]:
        """Slugs of the agentic workloads: there the speculative method is a point's, not a series'."""
        return tuple(slug for slug, workload in self.workloads.items() if workload.kind == "agentic")

    def gpu_slug(self, spelling: str) -> str | None:
        """The GPU a result file means, or None.

        Cluster and framework decorations are cut off from the right at - and _: ``cluster:h100-dgxc``,
        ``h100-cw_00`` and ``b200-trt`` are h100, h100 and b200.
        """
        word = spelling.strip().lower().removeprefix("cluster:")
        while word:
            slug = find(self.gpus, word)
            if slug:
                return slug
            shorter = re.sub(r"[-_][^-_]*$", "", word)
            word = shorter if shorter != word else ""
        return None

    def model_slug(self, spelling: str) -> str | None:
        """The model a result file means, given by name, alias, hub id or path; None if unknown.

        Owner, folders and the marks of a quantised checkpoint (-FP4, -FP8-KV, -MXFP4-Preview, …) are ignored.
        """
        base = spelling.strip().rstrip("/").rsplit("/", 1)[-1]
        base = base.rsplit("--", 1)[-1]
        for word in (spelling, base, _without_quantization(base)):
            slug = find(self.models, word)
            if slug:
                return slug
        return None

    def engine_slug(self, spelling: str) -> str | None:
        """The engine a result file means, or None."""
        return find(self.engines, spelling)

    def workload_slug(self, spelling: str) -> str | None:
        """The workload a result file means, or None."""
        return find(self.workloads, spelling)

    def fixed_workload(self, input_len_tok: int, output_len_tok: int) -> str:
        """The workload slug of a fixed-length load: a registered one, else random_<in>_<out>."""
        for slug, workload in self.workloads.items():
            if (workload.input_len_tok, workload.output_len_tok) == (input_len_tok, output_len_tok):
                return slug
        return f"random_{input_len_tok}_{output_len_tok}"

    def workload(self, slug: str) -> Workload:
        """The workload of a slug; random_<in>_<out> needs no entry. Raises RegistryError."""
        if slug in self.workloads:
            return self.workloads[slug]
        lengths = re.fullmatch(r"random_([1-9]\d*)_([1-9]\d*)", slug)
        if not lengths:
            raise RegistryError(
                f"unknown workload {slug!r}", where="workloads.toml", next_step=nearest(slug, self.workloads)
            )
        n_in, n_out = int(lengths[1]), int(lengths[2])
        return Workload(
            name=f"random {n_in} in / {n_out} out",
            kind="fixed_length",
            percentile=50,
            input_len_tok=n_in,
            output_len_tok=n_out,
            rank=100,
            description=f"single requests of {n_in:,} input and {n_out:,} output tokens",
        )


def _without_quantization(name: str) -> str:
    return re.sub(r"[-_](nv|mx)?(fp4|fp8|bf16|w4a16|int4|int8|awq|gptq)\b.*$", "", name, flags=re.IGNORECASE)


def normalised(word: str) -> str:
    """The form in which spellings are compared: lower case, spaces, - and _ alike."""
    return re.sub(r"[\s_-]+", "-", word.strip().lower())


def find(entries: Mapping[str, E], spelling: str) -> str | None:
    """The slug whose slug, name or alias is the spelling; case, spaces, - and _ do not matter."""
    wanted = normalised(spelling)
    for slug, entry in entries.items():
        if wanted in {normalised(word) for word in (slug, entry.name, *entry.aliases)}:
            return slug
    return None


def require(entries: Mapping[str, E], spelling: str, *, kind: str, where: str) -> str:
    """As find, but an unknown spelling is a RegistryError that names the nearest known one."""
    slug = find(entries, spelling)
    if slug is None:
        hint = f"{nearest(spelling, entries)} A new one is a block of pipeline/registry/{kind}s.toml."
        raise RegistryError(f"unknown {kind} {spelling!r}", where=where, next_step=hint)
    return slug

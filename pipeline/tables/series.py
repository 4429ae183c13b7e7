"""The columns that name a series, shared by every table that a series reaches."""

from pipeline.tables.columns import Column, flag, text

SERIES: tuple[Column, ...] = (
    text("model", "model slug of the registry", nullable=False),
    text("gpu", "GPU slug of the registry", nullable=False),
    text("workload", "workload slug of the registry", nullable=False),
    text("engine", "engine slug of the registry; a wrapper such as dynamo_vllm is its own engine", nullable=False),
    text("precision", "number format of the checkpoint's weights (fp4, fp8, bf16, …), not of the arithmetic"),
    flag("disaggregated", "prefill and decode on separate GPUs; null where not said"),
    flag("multinode", "the deployment spans more than one host; null where not said"),
    text("kv_offload", "where KV cache is offloaded to (none, dram, …); null where not said"),
    text("spec_method", "speculative method (none, mtp, eagle3, …); null where not said"),
    text("provenance", "measured, imported or simulated; never mixed in one series", nullable=False),
)

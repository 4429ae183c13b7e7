"""What a reader should know about a point and that does not invalidate it: note codes, each with one sentence.

A note is ``code`` or ``code=detail``. Belongs here: codes and sentences. Not here: reasons (validity.py).
"""

from __future__ import annotations

from collections.abc import Mapping

NOTES: Mapping[str, str] = {
    "bimodal_tpot": "The requests fall into two groups by time per output token; the median lies in one of them.",
    "output_in_bursts": "Chunks arrive in bursts: the gaps between chunks say nothing, TPOT does.",
    "summary_differs": "A statistic of the source and the same one over its requests differ by more than 1 %.",
    "completed_below_requested": "Fewer completed than requested and no count of failures: the rest are failures.",
    "concurrency_unlimited": "All requests were sent without a limit on those in flight.",
    "cache_window_differs": "The server's cache counters cover another stretch than the client's window.",
    "input_tokens_counted_by_client": "The client's count of input tokens differs from the server's by over 1 %.",
    "lengths_from_file_name": "The nominal lengths are only in the file name; the content does not contradict them.",
    "lengths_from_means": "The nominal lengths are the mean lengths, rounded.",
    "lengths_differ_from_workload": "The recorded lengths are not those of the declared workload.",
    "name_says_model": "The file name names another model than the content.",
    "name_says_engine": "The file name names another engine than the content.",
    "name_says_gpu": "The file name names another GPU than the content.",
    "name_says_concurrency": "The file name names another concurrency than the content.",
    "name_says_tp": "The file name names another tensor-parallel size than the content.",
    "name_says_lengths": "The file name names other lengths than the content.",
    "declared_contradicts_file": "A declared fact differs from the recorded one, which holds.",
    "run_began_the_day_before": "The file is of the day after its run began; the run's day is declared.",
    "disaggregation_from_throughput": "Whether prefill and decode are separate follows from the throughputs.",
    "tp_holds_all_gpus": "The tensor-parallel field holds all GPUs of both pools.",
    "pool_sizes_contradict_throughput": "The recorded pool sizes do not reproduce the throughput per GPU.",
    "gpu_counts_repeat": "Both pool sizes name the same GPUs; they are counted once.",
    "unit_label_contradicted": "The source labels its latencies ms; its own speeds prove them seconds.",
    "speculative_method_not_said": "The source has speculative acceptance but does not name the method.",
    "local_time_date": "The date is in the client's local time.",
    "was_cancelled": "The client cancelled the run before its end.",
    "run_url_not_a_link": "The source's run link is not an http address; it is left out.",
    "device_name_ambiguous": "The telemetry names more than one device.",
    "throughput_mode": "Requests were sent as fast as the client could, not at a kept concurrency or a rate.",
    "requests_incomplete": "The source keeps some of its requests only: its own statistics are used, not those.",
    "tpot_weighted_by_tokens": "The source weighs time per output token by tokens, not by requests: it is left out.",
    "tpot_left_out": "The source's time per output token is left out: its own latencies make this multiple of it.",
    "rate_not_reached": "The client sent so many requests a second, less than the rate that was asked of it.",
    "not_streamed": "Answers came in one piece: the source's first token is a placeholder; it and TPOT are left out.",
    "summary_of_fewer_requests": "The source's statistics leave out requests of its file; all of those are counted.",
    "tokens_of_another_tokenizer": "The client counted all tokens with one tokenizer, which need not be the model's.",
    "published_reading": "Read off a published ladder, itself possibly interpolated: not a raw point.",
    "synthetic_trace": "The load is a synthetic agentic trace with 94 % prefix reuse, not the AgentX corpus.",
    "low_fidelity": "Only this share of a decode step at batch 16 is measured throughout; the rest is partly modelled.",
    "not_monotone": "In the operator tables a decode step gets shorter by up to this share as the batch grows.",
    "unchunked_prefill": "Prompts are prefilled in one step; the scheduler model loses the cache of a chunked prompt.",
    "one_repeat": "The point was measured once: its spread is not known.",
    "repeats_differ": "The standard deviation of the throughput over repeats is this share of it.",
    "preempted": "The engine ran out of KV cache and computed this many requests again.",
    "client_too_slow": "The load client itself adds this share to the time per output token.",
    "prompts_reused": "So many requests sent a prompt that had been sent before.",
    "usage_missing": "The server said nothing of the tokens of so many successful requests.",
    "requests_unrecorded": "The engine served so many more requests than were recorded: cancelled at a phase's end.",
    "counters_above_requests": "The engine's counters are this share above the successful requests; some did not end.",
    "host_busy": "Other programs used this share of the host's cores in the measured windows.",
    "power_capped": "The device held its clocks down to its power limit in this share of the samples.",
    "user_clocks": "Somebody had fixed the device's clocks.",
    "fewer_devices_sampled": "Fewer devices were sampled than the deployment holds, so their energy is not known.",
    "not_agentx_scenario": "The trace was not replayed as the published AgentX scenario: not a valid AgentX run.",
    "reading_published_without_date": "The page gives a range of dates; this is its last day.",
}


def note_sentence(note: str) -> str:
    """The sentence of a note, with its detail in brackets. Raises KeyError for a code that is none."""
    code, _, detail = note.partition("=")
    return f"{NOTES[code]} ({detail})" if detail else NOTES[code]

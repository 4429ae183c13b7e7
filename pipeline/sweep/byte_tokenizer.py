"""A tokenizer for which one token is one byte of text: the files of a folder, without a download.

The load generator loads a tokenizer whatever it measures. Against the scripted server it is this one, so that both
sides count the same tokens.
"""

from __future__ import annotations

import json


def byte_tokenizer() -> dict[str, str]:
    """File name to content, in the form that the tokenizers and transformers libraries read."""
    vocabulary = {letter: index for index, letter in enumerate(_letters())}
    end = len(vocabulary)
    special = {"id": end, "content": "<end>", "special": True}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    bytes_of_text = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special | flags],
        "normalizer": None,
        "pre_tokenizer": bytes_of_text,
        "post_processor": None,
        "decoder": bytes_of_text,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": vocabulary,
            "merges": [],
        },
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<end>",
        "bos_token": "<end>",
        "pad_token": "<end>",
        "model_max_length": 10**9,
        "clean_up_tokenization_spaces": False,
    }
    model = {"model_type": "gpt2", "vocab_size": end + 1}
    return {name: json.dumps(body) for name, body in _named(tokenizer, settings, model)}


def _named(tokenizer: object, settings: object, model: object) -> list[tuple[str, object]]:
    return [("tokenizer.json", tokenizer), ("tokenizer_config.json", settings), ("config.json", model)]


def _letters() -> list[str]:
    """The printable letter that stands for each byte in a byte-level vocabulary, in the order of the bytes.

    Printable bytes of Latin-1 stand for themselves, the others for letters from 256 on.
    """
    itself = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in itself else chr(next(others)) for byte in range(256)]

"""Makes one model folder: runs in the environment of an engine build, never imported by this project.

Its order is one JSON object on standard input (see MadeModel.order) with ``folder``, an empty folder to fill. The same
order gives the same bytes: the weights come from a bit generator whose stream is fixed, not from torch.
"""

import json
import sys
from pathlib import Path
from typing import Any

SPREAD = 0.02
"""Standard deviation of every weight."""

LEVEL = 0.1
"""Feature 0 of every token: the same number throughout, since no layer writes to it (see ``embeddings``)."""

UNLIKELY = -10.0
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
BEGIN, END = "<s>", "</s>"


def write_tokenizer(folder: Path, order: dict[str, Any]) -> list[str]:
    """Train the byte-level BPE tokenizer and write it; returns its tokens by id."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=order["vocabulary"],
        special_tokens=[BEGIN, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(order["lines"], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BEGIN,
        "eos_token": END,
        "model_max_length": order["context_tok"],
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    write_json(folder / "tokenizer_config.json", settings)
    return [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]


def write_configuration(folder: Path, order: dict[str, Any]) -> None:
    """Write config.json and generation_config.json."""
    ends = {"bos_token_id": 0, "eos_token_id": 1}
    shape = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": order["hidden"],
        "intermediate_size": order["intermediate"],
        "num_hidden_layers": order["n_layers"],
        "num_attention_heads": order["n_heads"],
        "num_key_value_heads": order["n_heads"],
        "head_dim": order["hidden"] // order["n_heads"],
        "vocab_size": order["vocabulary"],
        "max_position_embeddings": order["context_tok"],
        "hidden_act": "silu",
        "initializer_range": SPREAD,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "use_cache": True,
        "torch_dtype": "float32",
    }
    write_json(folder / "config.json", shape | ends)
    write_json(folder / "generation_config.json", {**ends, "do_sample": False})


def write_weights(folder: Path, order: dict[str, Any], tokens: list[str]) -> None:
    """Write model.safetensors, all float32."""
    import numpy as np
    from safetensors.numpy import save_file

    stream = np.random.Philox(key=order["seed"])

    def spread(*shape: int) -> Any:
        bits = stream.random_raw(int(np.prod(shape))) >> np.uint64(40)
        uniform = bits.astype(np.float32) / np.float32(2**24) - np.float32(0.5)
        return (uniform * np.float32(SPREAD * 12**0.5)).reshape(shape)

    tensors = embeddings(spread, order, tokens)
    for index in range(order["n_layers"]):
        tensors |= layer(spread, order, f"model.layers.{index}")
    tensors["model.norm.weight"] = np.ones(order["hidden"], dtype=np.float32)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def embeddings(spread: Any, order: dict[str, Any], tokens: list[str]) -> dict[str, Any]:
    """Both embeddings. Feature 0 is a constant that tells the output head which tokens it must not say.

    Those are the ends of a text, and tokens that are no text by themselves: a half of a character shows as an empty
    piece of a stream, and a client would take the next one for the first token.
    """
    words, head = (spread(order["vocabulary"], order["hidden"]) for _ in range(2))
    words[:, 0] = LEVEL
    head[:, 0] = 0.0
    unsaid = [i for i, token in enumerate(tokens) if token in (BEGIN, END) or not is_text(token)]
    head[unsaid, 0] = UNLIKELY
    head[len(tokens) :, 0] = UNLIKELY
    return {"model.embed_tokens.weight": words, "lm_head.weight": head}


def is_text(token: str) -> bool:
    """Whether a token is printable ASCII; the byte-level form of a space is G with a dot."""
    return all("!" <= letter <= "~" or letter == "\u0120" for letter in token)


def layer(spread: Any, order: dict[str, Any], name: str) -> dict[str, Any]:
    """One layer; it leaves feature 0 as it is."""
    import numpy as np

    hidden, intermediate = order["hidden"], order["intermediate"]
    ones = np.ones(hidden, dtype=np.float32)
    tensors = {f"{name}.self_attn.{part}_proj.weight": spread(hidden, hidden) for part in "qkvo"}
    tensors |= {f"{name}.mlp.{part}_proj.weight": spread(intermediate, hidden) for part in ("gate", "up")}
    tensors[f"{name}.mlp.down_proj.weight"] = spread(hidden, intermediate)
    for written in ("self_attn.o_proj", "mlp.down_proj"):
        tensors[f"{name}.{written}.weight"][0, :] = 0.0
    return tensors | {f"{name}.{norm}_layernorm.weight": ones.copy() for norm in ("input", "post_attention")}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write one small file."""
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    """Fill the folder."""
    order = json.load(sys.stdin)
    folder = Path(order["folder"])
    tokens = write_tokenizer(folder, order)
    write_configuration(folder, order)
    write_weights(folder, order, tokens)


if __name__ == "__main__":
    main()

"""Stands for the maker of models: writes one file with its order, or dies half-way where the model is called broken."""

import json
import sys
from pathlib import Path

order = json.load(sys.stdin)
folder = Path(order.pop("folder"))
(folder / "config.json").write_text(json.dumps(order, sort_keys=True))
if order["name"] == "broken":
    sys.exit("no tokenizers here")

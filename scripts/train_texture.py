"""Train the texture models, stage by stage. Each stage resumes by the same command.

Usage (in this order):
    python scripts/train_texture.py data --furniture /usr/share/sweethome3d/furniture
    python scripts/train_texture.py pbr
    python scripts/train_texture.py completion
    python scripts/train_texture.py export --out checkpoints/seed3d_texture_tiny.safetensors
    python scripts/train_texture.py evaluate --out docs/results/texture_models.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import yaml


def data(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Render the training records."""
    from tqdm import tqdm

    from seed3d.data.build import furniture_recipe, procedural_recipe
    from seed3d.data.furniture import catalogue
    from seed3d.data.procedural import CATEGORIES
    from seed3d.train.texture_data import build_texture_record

    options = config["data"]
    recipes: list[tuple[Any, tuple]] = []
    if args.furniture:
        recipes += [
            (furniture_recipe, (entry, args.cache, options["furniture_views"]))
            for entry in catalogue(args.furniture)
        ]
    pairs = [(c, s) for s in range(options["procedural"]) for c in sorted(CATEGORIES)]
    recipes += [(procedural_recipe, (c, s, options["procedural_views"])) for c, s in pairs]
    args.data.mkdir(parents=True, exist_ok=True)
    # Every prefix of this order is a mix of all kinds, so that training can start early.
    order = [i for step in range(7) for i in range(step, len(recipes), 7)]
    for index in tqdm(order, mininterval=30):
        make, arguments = recipes[index]
        recipe = make(*arguments)
        outcome = build_texture_record(recipe, args.data)
        if outcome not in ("made", "kept"):
            with (args.data / "failures.jsonl").open("a") as file:
                file.write(json.dumps({"key": recipe.key, "cause": outcome}) + "\n")


def main() -> None:
    stages = {f.__name__: f for f in (data,)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--config", type=Path, default=Path("configs/train/texture_tiny.yaml"))
    parser.add_argument("--data", type=Path, default=Path("datasets/texture"))
    parser.add_argument("--furniture", type=Path, help="folder of .sh3f libraries")
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--run", type=Path, default=Path("runs/texture"))
    parser.add_argument("--steps", type=int, help="other length than the configuration's")
    parser.add_argument("--name", default="seed3d-texture-tiny")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    stages[args.stage](args, yaml.safe_load(args.config.read_text()))


if __name__ == "__main__":
    main()

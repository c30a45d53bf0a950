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
    from seed3d.train.texture_data import texture_record

    build(args, config, args.data, texture_record)


def build(args: argparse.Namespace, config: dict[str, Any], folder: Path, record_of: Any) -> None:
    """Write a record of every object; causes of failure go to failures.jsonl."""
    from tqdm import tqdm

    from seed3d.data.build import build_object
    from seed3d.data.prepare import note_failure

    folder.mkdir(parents=True, exist_ok=True)
    for recipe in tqdm(recipes(args, config["data"]), mininterval=30):
        outcome = build_object(recipe, folder, record_of)
        if outcome not in ("made", "kept"):
            note_failure(folder, recipe.key, outcome)


def recipes(args: argparse.Namespace, options: dict[str, int]) -> list[Any]:
    """Every object to render; each prefix of the list is a mix of all kinds."""
    from seed3d.data.build import furniture_recipe, procedural_recipe
    from seed3d.data.furniture import catalogue
    from seed3d.data.procedural import CATEGORIES

    entries = catalogue(args.furniture) if args.furniture else ()
    found = [furniture_recipe(entry, args.cache, options["furniture_views"]) for entry in entries]
    pairs = [(c, s) for s in range(options["procedural"]) for c in sorted(CATEGORIES)]
    found += [procedural_recipe(c, s, options["procedural_views"]) for c, s in pairs]
    return [found[i] for step in range(7) for i in range(step, len(found), 7)]


def multiview_data(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Render the multi-view records."""
    from functools import partial

    from seed3d.train.multiview_task import multiview_record

    options = {name: config["multiview"][name] for name in ("views", "size")}
    build(args, config, args.data.with_name("multiview"), partial(multiview_record, **options))


def multiview(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the multi-view diffusion transformer."""
    import torch

    from seed3d.texture.models.multiview import MultiViewDiT
    from seed3d.train.multiview_task import MultiViewTask, load_views

    torch.manual_seed(0)
    model = MultiViewDiT(**config["multiview"])
    folder = args.data.with_name("multiview")
    data = [load_views(folder, split) for split in ("train", "val")]
    shift, device = config["multiview_shift"], config["train_multiview"].get("device", "cpu")
    run(MultiViewTask(model, *data, shift, device), args, config, "multiview")


def pbr(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the decomposition; ``--steps 0`` fits its first answer only."""
    import torch
    from safetensors.torch import load_file, save_file

    from seed3d.texture.models.pbr import PBRNet
    from seed3d.train.texture_tasks import PBRTask, fit_first, load_photos

    torch.manual_seed(0)
    model = PBRNet(**config["pbr"])
    task = PBRTask(model, load_photos(args.data, "train"), load_photos(args.data, "val"))
    first = args.run / "pbr_first.safetensors"
    if not first.exists():
        fit_first(model, task.train)
        args.run.mkdir(parents=True, exist_ok=True)
        save_file(model.state_dict(), first)
    model.load_state_dict(load_file(first))
    if args.steps == 0:
        print(task.evaluate(model.eval()))
        return
    model = task.model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    run(task, args, config, "pbr")


def completion(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the completion of unseen surface."""
    import torch

    from seed3d.texture.models.completion import CompletionNet
    from seed3d.train.completion_task import CompletionTask, load_queries

    torch.manual_seed(0)
    model = CompletionNet(**config["completion"])
    task = CompletionTask(model, load_queries(args.data, "train"), load_queries(args.data, "val"))
    run(task, args, config, "completion")


def run(task: Any, args: argparse.Namespace, config: dict[str, Any], name: str) -> None:
    """Run the loop and keep the averaged weights."""
    from safetensors.torch import save_file

    from seed3d.train.loop import TrainConfig, train

    options = dict(config[f"train_{name}"])
    if args.steps is not None:
        options["steps"] = args.steps
    model = train(task, TrainConfig(**options), args.run / name, {"model": config[name]})
    state = {key: value.contiguous() for key, value in model.state_dict().items()}
    save_file(state, args.run / f"{name}.safetensors")


def networks(args: argparse.Namespace, config: dict[str, Any]) -> dict[str, Any]:
    """The networks trained so far: finished, or the running average, or the first answer."""
    from safetensors.torch import load_file

    from seed3d.texture.models.completion import CompletionNet
    from seed3d.texture.models.pbr import PBRNet

    found: dict[str, Any] = {}
    for name, kind in (("pbr", PBRNet), ("completion", CompletionNet)):
        done, state = args.run / f"{name}.safetensors", args.run / name / "state.safetensors"
        first = args.run / f"{name}_first.safetensors"
        if args.first and first.exists():
            weights = load_file(first)
        elif done.exists():
            weights = load_file(done)
        elif state.exists():
            everything = load_file(state)
            weights = {k[4:]: v for k, v in everything.items() if k.startswith("ema.")}
        else:
            continue
        network = kind(**config[name])
        network.load_state_dict(weights, strict=True)
        found[name] = network.eval()
    return found


def evaluate(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Errors on the test split beside those of the baselines, as JSON."""
    import torch

    from seed3d.train.completion_task import completion_scores, load_queries
    from seed3d.train.texture_tasks import load_photos, medians, pbr_errors

    found = networks(args, config)
    report: dict[str, Any] = {"split": args.split}
    if "pbr" in found:
        photos = load_photos(args.data, args.split)
        constants = medians(load_photos(args.data, "train"))
        own = photos.procedural
        report["pbr"] = {
            "photos": len(own),
            "constant_roughness_metallic": list(constants),
            "all": pbr_errors(found["pbr"], photos, constants),
            "furniture": pbr_errors(found["pbr"], photos, constants, torch.nonzero(~own)[:, 0]),
            "procedural": pbr_errors(found["pbr"], photos, constants, torch.nonzero(own)[:, 0]),
        }
    if "completion" in found:
        queries = load_queries(args.data, args.split, 512)
        scores = completion_scores(found["completion"], queries)
        report["completion"] = {"objects": len(queries.owner.unique()), **scores}
    text = json.dumps(report, indent=1, sort_keys=True) + "\n"
    if args.out:
        args.out.write_text(text)
    print(text)


def export(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Write the networks named as one half-precision file and list it in the manifest."""
    from seed3d.checkpoints import register
    from seed3d.texture.models.weights import export_networks

    out = args.out or Path("checkpoints/seed3d_texture_tiny.safetensors")
    chosen = {k: v for k, v in networks(args, config).items() if k in args.networks.split(",")}
    export_networks(out, chosen)
    register(
        out, args.name, licence="Apache-2.0", source="scripts/train_texture.py",
        trained_on="sweethome3d-furniture 1.8 (CC0, CC-BY 3.0; credits in checkpoints/CREDITS.md) "
                   "and this project's procedural objects",
        score=args.score,
    )  # fmt: skip


def main() -> None:
    stages = {
        f.__name__: f for f in (data, pbr, completion, multiview_data, multiview, export, evaluate)
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--config", type=Path, default=Path("configs/train/texture_tiny.yaml"))
    parser.add_argument("--data", type=Path, default=Path("datasets/texture"))
    parser.add_argument("--furniture", type=Path, help="folder of .sh3f libraries")
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--run", type=Path, default=Path("runs/texture"))
    parser.add_argument("--steps", type=int, help="other length than the configuration's")
    parser.add_argument("--name", default="seed3d-texture-tiny")
    parser.add_argument("--first", action="store_true", help="the closed-form decomposition only")
    parser.add_argument("--networks", default="pbr,completion", help="which ones to export")
    parser.add_argument("--score", default="not measured", help="a measured number, in words")
    parser.add_argument("--split", default="test", help="which objects to evaluate")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    stages[args.stage](args, yaml.safe_load(args.config.read_text()))


if __name__ == "__main__":
    main()

"""Train the image-to-shape model, stage by stage. Each stage resumes by the same command.

Usage (in this order, after `seed3d data build`, `features` and `duplicates`):
    python scripts/train_geometry.py autoencoder
    python scripts/train_geometry.py head
    python scripts/train_geometry.py dit
    python scripts/train_geometry.py export --out checkpoints/seed3d_tiny.safetensors

Go on from the bundled weights, with other objects and a learning rate that only falls:
    python scripts/train_geometry.py head --config configs/train/tiny_more.yaml --run runs/more \
        --more datasets/more/features
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import yaml

from seed3d.geometry.autoencoder import BlockAutoencoder
from seed3d.geometry.dit import ShapeDiT
from seed3d.geometry.head import PhotoHead
from seed3d.geometry.model import ShapeModel, export_model, load_model
from seed3d.train.autoencoder import fit_autoencoder, iou
from seed3d.train.data import Objects, load_objects
from seed3d.train.loop import TrainConfig, train
from seed3d.train.tasks import DiTTask, HeadTask


def autoencoder(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Fit the block code and print its held-out IoU."""
    from safetensors.torch import save_file

    data = load_objects(args.features, ("train",))
    names = [row["category"] for row in data.attributes]
    weights = torch.tensor([names.count(name) ** -0.5 for name in names])
    model = BlockAutoencoder(**config["autoencoder"])
    fit_autoencoder(model, data.tsdf, weights)
    args.run.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), args.run / "autoencoder.safetensors")
    for title, objects in (("train", data), ("held out", load_objects(args.features, ("val",)))):
        grids = objects.tsdf[:200].float() / 127
        with torch.no_grad():
            values = iou(model.decode(model.encode(grids)), grids)
        latents = model.encode(grids)
        print(f"{title}: IoU mean {values.mean():.3f} median {values.median():.3f}; "
              f"latents mean {latents.mean():.2f} std {latents.std():.2f}")  # fmt: skip


def load_autoencoder(args: argparse.Namespace, config: dict[str, Any]) -> BlockAutoencoder:
    """The fitted autoencoder of this run, or that of the model the config starts from."""
    return finished(BlockAutoencoder(**config["autoencoder"]), args, config, "autoencoder").eval()


def build_head(config: dict[str, Any]) -> PhotoHead:
    """An untrained head for the categories and materials of the tables."""
    from seed3d.config import data_dir

    tables = [
        tuple(sorted(yaml.safe_load((data_dir("configs") / f"{name}.yaml").read_text())))
        for name in ("categories", "materials")
    ]
    return PhotoHead(categories=tables[0], materials=tables[1], **config["head"])


def head(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the photo head, without stretched variants: nothing is made in their sizes."""
    torch.manual_seed(0)
    data, held_out = both(args.features, args.more, variants=False)
    task = HeadTask(started(build_head(config), args, config, "head"), data, held_out)
    run(task, args, config, "head")


def dit(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the diffusion transformer."""
    torch.manual_seed(0)
    model = started(ShapeDiT(**config["dit"]), args, config, "dit")
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters")
    task = DiTTask(model, load_autoencoder(args, config), *both(args.features, args.more),
                   config["shift"], args.device)  # fmt: skip
    run(task, args, config, "dit")


def both(
    features: Path, more: Sequence[Path] = (), variants: bool = True
) -> tuple[Objects, Objects]:
    """Training objects with their mirror images, and validation objects."""
    data = load_objects(features, ("train",), True, variants=variants, more=more)
    return data, load_objects(features, ("val",))


def started(
    model: torch.nn.Module, args: argparse.Namespace, config: dict[str, Any], part: str
) -> Any:
    """The untrained network, or with the weights of the bundled model that the config starts from.

    The run keeps those: `export` may replace the bundled model, and needs them once more.
    """
    from safetensors.torch import load_file, save_file

    if "start" not in config:
        return model
    kept = args.run / f"{part}_start.safetensors"
    if not kept.exists():
        args.run.mkdir(parents=True, exist_ok=True)
        save_file(getattr(load_model(config["start"]), part).state_dict(), kept)
    model.load_state_dict(load_file(kept), strict=True)
    return model


def run(
    task: Any, args: argparse.Namespace, config: dict[str, Any], name: str, **changes: Any
) -> None:
    """Run the loop and keep the averaged weights; `changes` go before the configuration's."""
    from safetensors.torch import save_file

    options = {**config[f"train_{name}"], "device": args.device, **changes}
    if args.steps:
        options["steps"] = args.steps
    model = train(task, TrainConfig(**options), args.run / name, {"model": config[name]})
    save_file(model.cpu().state_dict(), args.run / f"{name}.safetensors")


def finished(
    model: torch.nn.Module, args: argparse.Namespace, config: dict[str, Any], part: str
) -> Any:
    """The network with its weights of this run, or of the bundled model that the config starts from.

    Of one still in training: the running average.
    """
    from safetensors.torch import load_file

    done, running = args.run / f"{part}.safetensors", args.run / part / "state.safetensors"
    if "start" in config and not done.exists() and not running.exists():
        return started(model, args, config, part)
    state = load_file(done if done.exists() else running)
    if not done.exists():
        state = {k.removeprefix("ema."): v for k, v in state.items() if k.startswith("ema.")}
    if (share := config.get("share", {}).get(part)) is not None:
        before = load_file(args.run / f"{part}_start.safetensors")
        state = blended(before, state, share)
    model.load_state_dict(state, strict=True)
    return model


def blended(
    before: dict[str, torch.Tensor], after: dict[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """`share` of the trained weights, the rest of those they started from (arXiv:2203.05482)."""
    return {name: share * value + (1 - share) * before[name] for name, value in after.items()}


def assembled(args: argparse.Namespace, config: dict[str, Any]) -> ShapeModel:
    """The networks of a run as one model."""
    head_model = finished(build_head(config), args, config, "head")
    dit_model = finished(ShapeDiT(**config["dit"]), args, config, "dit")
    return ShapeModel(load_autoencoder(args, config), dit_model, head_model, config["shift"])


def export(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Write the three networks as one half-precision file and list it in the manifest."""
    from seed3d.checkpoints import register

    model = assembled(args, config)
    export_model(model, args.out, "Seed3D image-to-shape model, Apache-2.0; data credits in "
                 "checkpoints/README.md")  # fmt: skip
    register(
        args.out, args.name, licence="Apache-2.0", source="scripts/train_geometry.py",
        trained_on="sweethome3d-furniture 1.8 (CC0, CC-BY 3.0; credits in checkpoints/README.md) "
                   "and this project's procedural objects",
        score=score(model, args.features),
    )  # fmt: skip
    write_credits(args)


def score(model: ShapeModel, features: Path) -> str:
    """What the manifest says of the shape network, measured on the validation photos."""
    held_out = load_objects(features, ("val",))
    task = DiTTask(model.dit, model.autoencoder, held_out, held_out, model.shift)
    with torch.no_grad():
        iou_mean = task.evaluate(model.dit)["iou_g1_s8_n0.4"]
    return f"IoU {iou_mean:.3f} on validation photos with true cameras"


def write_credits(args: argparse.Namespace) -> None:
    """List the author and licence of every model trained on, as CC-BY asks."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in load_objects(args.features, ("train",), variants=False).attributes:
        if row["creator"] != "seed3d":
            groups.setdefault((row["licence"], row["creator"]), []).append(row["name"])
    lines = [
        "# Credits of the training models",
        "",
        f"`{args.out.name}` was trained on these models of the Sweet Home 3D furniture libraries",
        "(Debian package sweethome3d-furniture 1.8), remeshed, rendered and encoded, and on this",
        "project's own procedural objects. No model is redistributed here.",
        "",
        "| licence | author | models |",
        "|---|---|---|",
    ]
    for (licence, creator), names in sorted(groups.items()):
        unique = sorted(set(names))
        lines.append(f"| {licence} | {creator} | {len(names)}: {', '.join(unique)} |")
    args.out.with_name("CREDITS.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    stages = {f.__name__: f for f in (autoencoder, head, dit, export)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--config", type=Path, default=Path("configs/train/tiny.yaml"))
    parser.add_argument("--features", type=Path, default=Path("datasets/features"))
    parser.add_argument("--more", type=Path, action="append", default=[],
                        help="features of more training objects, for head and dit")  # fmt: skip
    parser.add_argument("--run", type=Path, default=Path("runs/tiny"))
    parser.add_argument("--steps", type=int, help="other length than the configuration's")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--name", default="seed3d-tiny")
    parser.add_argument("--out", type=Path, default=Path("checkpoints/seed3d_tiny.safetensors"))
    args = parser.parse_args()
    stages[args.stage](args, yaml.safe_load(args.config.read_text()))


if __name__ == "__main__":
    main()

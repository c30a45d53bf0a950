"""Train the VecSet VAE and the stream DiT, stage by stage. Each stage resumes by the same command.

Usage (in this order, after `seed3d data build` and `seed3d data features`):
    python scripts/train_vecset.py points --config configs/train/small.yaml
    python scripts/train_vecset.py conditions --config configs/train/small.yaml
    python scripts/train_vecset.py vae --config configs/train/small.yaml --device cuda
    python scripts/train_vecset.py dit --config configs/train/small.yaml --device cuda

`conditions` writes the photo tokens of the encoder that the configuration names. For
`condition: files` (several encoders side by side) put your own (V, P, C) arrays "tokens" there,
one <key>.npz per record.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

from seed3d.errors import InputError
from seed3d.geometry.photo import PhotoFeatures
from seed3d.train.data import read_attributes, record_paths
from seed3d.train.loop import TrainConfig, train
from seed3d.train.vecset import DiTTask, Photos, Shapes, VAETask, build, bundled_tokens

SURFACE, SALIENT, QUERIES = 8192, 4096, 16384
SHARP_RAD = np.deg2rad(40.0)
"""Of the records' marching-cubes meshes, whose smooth parts have facets."""


def points(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Sample every record's shape; existing files are kept."""
    from seed3d.geometry.points import salient_cloud, signed_distance, surface_cloud
    from seed3d.geometry.surface import extract

    args.points.mkdir(parents=True, exist_ok=True)
    for path in record_paths(args.objects):
        target = args.points / path.name
        if target.exists():
            continue
        with np.load(path) as record:
            mesh = extract(record["tsdf"].astype(np.float32) / 127)
            attributes = record["attributes"]
        rng = np.random.default_rng(0)
        surface = surface_cloud(mesh, SURFACE, rng)
        near = surface_cloud(mesh, QUERIES // 2, rng)[:, :3]
        near = near + rng.normal(size=near.shape) * rng.choice((0.01, 0.03, 0.08), (len(near), 1))
        space = np.concatenate([near, rng.uniform(-1, 1, (QUERIES // 2, 3))]).clip(-1, 1)
        part = target.with_suffix(".part.npz")
        np.savez(
            part, surface=surface, salient=salient_cloud(mesh, SALIENT, rng, SHARP_RAD),
            points=space.astype(np.float32), distance=signed_distance(mesh, space),
            attributes=attributes,
        )  # fmt: skip
        part.replace(target)


def conditions(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Photo tokens of every record; existing files are kept."""
    if config["condition"] == "files":
        raise InputError(
            f"{args.config}: condition is 'files'; put <key>.npz with an array 'tokens' (V, P, "
            f"{config['dit']['condition_channels']}) into {args.conditions}"
        )
    encode = dinov2_tokens(args.device) if config["condition"] == "dinov2-large" else None
    args.conditions.mkdir(parents=True, exist_ok=True)
    for path in record_paths(args.objects):
        target = args.conditions / path.name
        if target.exists():
            continue
        if encode is None:
            with np.load(args.features / path.name) as record:
                views = len(record["cameras"]) // 2  # the second half is of mirrored photos
                maps = (torch.from_numpy(record[k][:views]).float() for k in PhotoFeatures._fields)
                tokens = bundled_tokens(PhotoFeatures(*maps)).numpy()
        else:
            with np.load(path) as record:
                tokens = np.concatenate([encode(rgb / np.float32(255)) for rgb in record["rgb"]])
        part = target.with_suffix(".part.npz")
        np.savez(part, tokens=tokens.astype(np.float16))
        part.replace(target)


def dinov2_tokens(device: str) -> Any:
    """Photo (S, S, 3) to tokens (1, 257, 1024) by the fetched DINOv2-large."""
    from seed3d.geometry.dinov2 import FILE, NAME, load_dinov2, photo_tokens
    from seed3d.weights import located

    model = load_dinov2(located(NAME, FILE).parent, device)
    return lambda rgb: photo_tokens(rgb, model).cpu().numpy()


def records(folder: Path, split: str) -> Iterator[tuple[str, Any]]:
    """Key and open file of each shape of a split."""
    for path in record_paths(folder):
        with np.load(path) as record:
            if read_attributes(record)["split"] == split:
                yield path.name, record


def load(args: argparse.Namespace, split: str, with_photos: bool) -> tuple[Shapes, Photos]:
    """A split in memory."""
    columns: dict[str, list[np.ndarray]] = {k: [] for k in Shapes.__dataclass_fields__}
    tokens, owner = [], []
    for number, (name, record) in enumerate(records(args.points, split)):
        for key, rows in columns.items():
            rows.append(record[key])
        if with_photos:
            with np.load(args.conditions / name) as file:
                tokens.append(file["tokens"])
            owner += [number] * len(tokens[-1])
    if not columns["surface"]:
        raise InputError(f"{args.points}: no shape of the split {split!r}; run the stage points")
    shapes = Shapes(**{k: torch.from_numpy(np.stack(v)) for k, v in columns.items()})
    photos = np.concatenate(tokens) if tokens else np.zeros((0, 1, 1), np.float16)
    return shapes, Photos(torch.from_numpy(photos), torch.tensor(owner))


def options(args: argparse.Namespace, config: dict[str, Any], part: str) -> TrainConfig:
    """Options of a run, with those of the command line."""
    given = {"steps": args.steps} if args.steps else {}
    return TrainConfig(**{**config[f"train_{part}"], "device": args.device, **given})


def vae(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the VAE and keep it as diffusers does."""
    torch.manual_seed(0)
    model, _ = build(config)
    held_out = load(args, "val", False)[0]
    task = VAETask(model, load(args, "train", False)[0], held_out, config["tokens"],
                   device=args.device)  # fmt: skip
    train(task, options(args, config, "vae"), args.run / "vae", {"model": config["vae"]})
    model.cpu().save_pretrained(args.run / "vae")


def dit(args: argparse.Namespace, config: dict[str, Any]) -> None:
    """Train the DiT on the finished VAE's latents."""
    from seed3d.geometry.vecset import VecSetVAE

    torch.manual_seed(0)
    _, model = build(config)
    encoder = VecSetVAE.from_pretrained(args.run / "vae")
    task = DiTTask(
        model, encoder, *load(args, "train", True), load(args, "val", True), config["tokens"],
        args.device,
    )  # fmt: skip
    extra = {"model": config["dit"], "latent_scale": task.scale}
    train(task, options(args, config, "dit"), args.run / "dit", extra)
    model.cpu().save_pretrained(args.run / "dit")


def main() -> None:
    stages = {f.__name__: f for f in (points, conditions, vae, dit)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--config", type=Path, default=Path("configs/train/small.yaml"))
    parser.add_argument("--objects", type=Path, default=Path("datasets/objects"))
    parser.add_argument("--features", type=Path, default=Path("datasets/features"))
    parser.add_argument("--points", type=Path, default=Path("datasets/points"))
    parser.add_argument("--conditions", type=Path, default=Path("datasets/conditions"))
    parser.add_argument("--run", type=Path, default=Path("runs/vecset"))
    parser.add_argument("--steps", type=int, help="other length than the configuration's")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    stages[args.stage](args, yaml.safe_load(args.config.read_text()))


if __name__ == "__main__":
    main()

"""Train the image-to-shape model from one packed file within a time limit, e.g. on a rented GPU.

Usage:
    seed3d data pack set.zip                              # on the machine with the records
    python scripts/train_packed.py set.zip --minutes 9    # on the machine with the GPU
    python scripts/train_packed.py set.zip --join runs/packed --out checkpoints/new.safetensors

Unpacks, encodes the photos, fits the autoencoder, then trains head and DiT for what is left of
the time. The weights come back as half-precision files under 16 MiB each.
"""

from __future__ import annotations

import argparse
import os
import time
from argparse import Namespace
from pathlib import Path

import torch
import train_geometry as stages
import yaml

from seed3d.data.pack import unpack
from seed3d.geometry.dit import ShapeDiT
from seed3d.geometry.model import export_model, pick_device
from seed3d.train.data import add_features
from seed3d.train.tasks import DiTTask, HeadTask

HEAD_SHARE = 0.15
"""Of the time left for training."""
SPARE_S = 20.0
"""Kept for writing the results."""
PIECE = 15 * 2**20
"""Most bytes of one file."""


def train_all(args: Namespace) -> None:
    """Everything from the packed set to the pieces of the model."""
    begun = time.monotonic()
    config = yaml.safe_load(args.config.read_text())
    args.device = pick_device(args.device)
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"{unpack(args.set, args.run / 'objects')} objects, {args.device}", flush=True)
    for done in add_features(args.run / "objects", args.features):
        if done % 200 == 0:
            print(f"{done} encoded after {time.monotonic() - begun:.0f} s", flush=True)
    stages.autoencoder(args, config)
    objects = stages.both(args.features)
    head_task = HeadTask(stages.build_head(config), *objects)
    left = args.minutes - (time.monotonic() - begun + SPARE_S) / 60
    if left <= 0:
        raise SystemExit(f"no time left to train after preparing; got --minutes {args.minutes}")
    endless = {"steps": 1_000_000, "evaluate_every": 2_000}
    stages.run(head_task, args, config, "head", **endless, minutes=left * HEAD_SHARE, device="cpu")
    left = args.minutes - (time.monotonic() - begun + SPARE_S) / 60
    dit_task = DiTTask(ShapeDiT(**config["dit"]), stages.load_autoencoder(args, config), *objects,
                       config["shift"], args.device)  # fmt: skip
    if args.device != "cpu":
        endless["batch"] = 128
    stages.run(dit_task, args, config, "dit", **endless, minutes=left)
    for name in ("head", "dit"):
        print(name, (args.run / name / "log.jsonl").read_text().splitlines()[-1], flush=True)
    whole = args.run / "model.safetensors"
    export_model(stages.assembled(args, config), whole, "Seed3D image-to-shape model")
    for path in split(whole):
        print(path, path.stat().st_size, flush=True)


def split(path: Path) -> list[Path]:
    """Cut a file into pieces of at most PIECE bytes beside it; returns them in order."""
    data = path.read_bytes()
    pieces = []
    for number, start in enumerate(range(0, len(data), PIECE)):
        piece = path.with_name(f"{path.name}.{number:02d}")
        piece.write_bytes(data[start : start + PIECE])
        pieces.append(piece)
    return pieces


def join(run_folder: Path, out: Path) -> None:
    """Put the pieces of a run together again and check that the file loads."""
    from safetensors import safe_open

    pieces = sorted(run_folder.glob("model.safetensors.[0-9][0-9]"))
    if not pieces:
        raise SystemExit(f"{run_folder}: no pieces model.safetensors.NN")
    out.write_bytes(b"".join(piece.read_bytes() for piece in pieces))
    with safe_open(out, "pt") as file:
        print(f"{out}: {len(list(file.keys()))} tensors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", type=Path, help="file that `seed3d data pack` wrote")
    parser.add_argument("--minutes", type=float, default=9.0, help="limit for everything together")
    parser.add_argument("--run", type=Path, default=Path("runs/packed"))
    parser.add_argument("--config", type=Path, default=Path("configs/train/tiny.yaml"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--join", type=Path, help="only join the pieces in this folder")
    parser.add_argument("--out", type=Path, default=Path("checkpoints/seed3d_tiny.safetensors"))
    args = parser.parse_args()
    args.steps = None  # the time ends the stages
    args.features = args.run / "features"
    join(args.join, args.out) if args.join else train_all(args)


if __name__ == "__main__":
    main()

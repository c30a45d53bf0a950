"""Coarse-to-fine decode against the full grid: evaluations, distance of the meshes, seconds.

Usage:
    python scripts/benchmark_decode.py --json docs/results/decode.json

Fields: closed forms, the bundled model's latents of the same shapes, and a VecSet field (random
decoder added to a ball, as there is no bundled VecSet; it costs what a VecSet of its size costs).
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seed3d.geometry.decode import Field, decode_dense, decode_surface

DENSE_LIMIT = 2e-5
"""Seconds per value from which the full grid isn't run, only counted."""


def ball(p: torch.Tensor) -> torch.Tensor:
    return p.norm(dim=-1) - 0.7


def box(half: tuple[float, float, float]) -> Field:
    size = torch.tensor(half)

    def field(p: torch.Tensor) -> torch.Tensor:
        q = p.abs() - size
        return q.clamp(min=0).norm(dim=-1) + q.amax(-1).clamp(max=0)

    return field


def cup(p: torch.Tensor) -> torch.Tensor:
    radius, z = p[:, :2].norm(dim=-1), p[:, 2]
    outer = torch.maximum(radius - 0.6, z.abs() - 0.8)
    return torch.maximum(outer, -torch.maximum(radius - 0.56, -(z + 0.74)))


def table(p: torch.Tensor) -> torch.Tensor:
    value = box((0.9, 0.6, 0.03))(p - torch.tensor([0.0, 0, 0.5]))
    for x in (-0.8, 0.8):
        for y in (-0.5, 0.5):
            leg = box((0.04, 0.04, 0.5))(p - torch.tensor([x, y, 0.0]))
            value = torch.minimum(value, leg)
    return value


def turned(field: Field) -> Field:
    turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))[0]
    return lambda p: field(p @ turn)


def bundled(field: Field) -> Field:
    """The bundled autoencoder's field of a closed form."""
    from seed3d.geometry.model import load_model
    from seed3d.geometry.tsdf import TRUNCATION, grid_points

    model = load_model("seed3d-tiny").autoencoder
    points = torch.from_numpy(grid_points(64)).reshape(-1, 3)
    grid = (field(points) / TRUNCATION).clamp(-1, 1).view(1, 64, 64, 64)
    sdf = model.field(model.encode(grid))
    return lambda p: sdf(p[None])[0]


def vecset() -> Field:
    """A ball with the bumps of a random VecSet decoder of 64 tokens."""
    from seed3d.geometry.vecset import VecSetVAE

    torch.manual_seed(0)
    model = VecSetVAE(
        latent_channels=16, num_attention_heads=4, width_encoder=64, width_decoder=64,
        num_layers_encoder=1, num_layers_decoder=4, embed_frequency=4,
    ).eval()  # fmt: skip
    sdf = model.field(torch.randn(1, 64, 16))
    return lambda p: ball(p) + 0.05 * sdf(p[None])[0].tanh()


def fields() -> dict[str, Field]:
    return {
        "ball": ball, "box": turned(box((0.5, 0.3, 0.4))), "full box": box((0.95, 0.95, 0.95)),
        "cup": turned(cup), "table": table, "seed3d-tiny cup": bundled(cup),
        "seed3d-tiny table": bundled(table), "VecSet": vecset(),
    }  # fmt: skip


def farthest(a: Any, b: Any) -> float:
    from seed3d.mesh.grid import scene, tensor

    some = a.vertices[:: max(1, len(a.vertices) // 20_000)]
    return float(scene(b).compute_distance(tensor(some)).numpy().max())


def row(field: Field, resolution: int) -> dict[str, Any]:
    """Numbers of one field."""
    start = time.perf_counter()
    sparse = decode_surface(field, resolution)
    seconds = time.perf_counter() - start
    result: dict[str, Any] = {
        "evaluations": sparse.evaluations,
        "fewer": round(sparse.dense_evaluations / sparse.evaluations, 1),
        "seconds": round(seconds, 2),
        "watertight": bool(sparse.mesh.to_trimesh().is_watertight),
        "faces": len(sparse.mesh.faces),
    }
    start = time.perf_counter()
    with torch.no_grad():
        field(torch.rand(20_000, 3) * 2 - 1)
    if (time.perf_counter() - start) / 20_000 < DENSE_LIMIT:
        start = time.perf_counter()
        dense = decode_dense(field, resolution)
        result["dense_seconds"] = round(time.perf_counter() - start, 2)
        gap = max(farthest(sparse.mesh, dense.mesh), farthest(dense.mesh, sparse.mesh))
        result["farthest_voxels"] = round(gap * resolution / 2, 3)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resolution", type=int, default=256)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = {}
    for name, field in fields().items():
        rows[name] = row(field, args.resolution)
        print(name, rows[name], flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    report = {
        "command": "python scripts/benchmark_decode.py --json docs/results/decode.json",
        "commit": commit.stdout.strip(), "resolution": args.resolution,
        "device": f"cpu, {torch.get_num_threads()} threads, {platform.machine()}",
        "fewer_min": min(r["fewer"] for r in rows.values()),
        "fewer_mean": round(float(np.mean([r["fewer"] for r in rows.values()])), 1),
        "farthest_voxels_max": max(r.get("farthest_voxels", 0.0) for r in rows.values()),
        "fields": rows,
    }  # fmt: skip
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()

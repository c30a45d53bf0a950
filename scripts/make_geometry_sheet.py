"""Contact sheet of random held-out objects: photo, three views of the generated mesh, the truth.

Usage:
    python scripts/make_geometry_sheet.py --out docs/geometry_sheet.png --count 24 --seed 0
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from PIL import Image

from seed3d.config import load_preset
from seed3d.geometry.generate import shape_from_photo
from seed3d.geometry.surface import extract
from seed3d.render.cameras import orbit_camera
from seed3d.render.lighting import Lighting
from seed3d.render.shade import render
from seed3d.texture.preview import GREY
from seed3d.texture.surface import shaded_surface
from seed3d.train.data import read_attributes, record_paths
from seed3d.types import Mesh, Subject

PANEL = 128
VIEWS = ((0.6, 0.35), (2.2, 0.35), (3.75, 0.35))


def chosen(folder: Path, count: int, seed: int) -> list[Path]:
    """Random held-out records, half furniture and half procedural."""
    groups: dict[bool, list[Path]] = {True: [], False: []}
    for path in record_paths(folder):
        with np.load(path) as record:
            if read_attributes(record)["split"] == "test":
                groups[path.name.startswith("procedural_")].append(path)
    rng = np.random.default_rng(seed)
    half = count // 2
    picks = [list(rng.permutation(len(g))[: half + i * (count % 2)]) for i, g in enumerate(groups.values())]  # fmt: skip
    return [g[i] for g, pick in zip(groups.values(), picks, strict=True) for i in pick]


def panel(mesh: Mesh, azimuth: float, elevation: float) -> np.ndarray:
    """One grey view (PANEL, PANEL, 3) uint8."""
    image = render(shaded_surface(mesh, GREY), orbit_camera(azimuth, elevation), PANEL,
                   Lighting.studio(azimuth))  # fmt: skip
    return np.round(np.clip(image.over(), 0, 1) * 255).astype(np.uint8)


def row(path: Path, preset: str) -> np.ndarray:
    """Photo, three views of the generated mesh, the truth from the first view."""
    with np.load(path) as record:
        rgb, mask = record["rgb"][0], record["mask"][0]
        truth = extract(record["tsdf"].astype(np.float32) / 127)
    subject = Subject(rgb / np.float32(255), mask / np.float32(255), "alpha")
    shape = shape_from_photo(subject, load_preset(preset).geometry)
    photo = np.asarray(Image.fromarray(rgb).resize((PANEL, PANEL), Image.Resampling.LANCZOS))
    views = [panel(shape.mesh, *view) for view in VIEWS]
    return np.concatenate([photo, *views, panel(truth, *VIEWS[0])], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=Path("datasets/objects"))
    parser.add_argument("--out", type=Path, default=Path("docs/geometry_sheet.png"))
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--columns", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", default="default")
    args = parser.parse_args()
    paths = chosen(args.records, args.count, args.seed)
    rows = [row(path, args.preset) for path in paths]
    per_column = -(-len(rows) // args.columns)
    rows += [np.full_like(rows[0], 255)] * (per_column * args.columns - len(rows))
    columns = [np.concatenate(rows[i * per_column : (i + 1) * per_column]) for i in range(args.columns)]  # fmt: skip
    gap = np.full((len(columns[0]), 24, 3), 255, np.uint8)
    sheet = np.concatenate([part for column in columns for part in (column, gap)][:-1], axis=1)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(sheet).save(args.out, optimize=True)
    print(json.dumps([path.stem for path in paths]))


if __name__ == "__main__":
    main()

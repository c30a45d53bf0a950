"""Unseen views of held-out objects, completed by the network and by the baselines.

Isolates the completion: the photo is the true base colour, geometry and camera are the true ones,
and each pixel of six unseen views is completed as a texel would be.

    python scripts/evaluate_completion.py --limit 30 --out docs/results/texture_completion.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.conventions import linear_to_srgb
from seed3d.data.build import Recipe, canonical_surface, furniture_recipe, procedural_recipe
from seed3d.data.furniture import catalogue
from seed3d.data.procedural import CATEGORIES
from seed3d.data.split import split_of
from seed3d.data.views import random_camera
from seed3d.evaluate.perceptual import perceptual_distance
from seed3d.render.cameras import orbit_camera
from seed3d.render.raycast import Caster, GBuffer, gbuffer
from seed3d.render.shade import sample_material
from seed3d.texture import paint
from seed3d.texture.complete import complete
from seed3d.texture.models.weights import TEXTURE_MODEL, load_completion
from seed3d.texture.photo import PhotoView, observe, register
from seed3d.texture.texels import Texels
from seed3d.types import Subject, Surface

PHOTO_SIZE, VIEW_SIZE, COARSE_SIZE = 320, 128, 64


def picked(args: argparse.Namespace) -> list[Recipe]:
    """Objects of the test split: furniture and procedural in turn."""
    entries = [furniture_recipe(e, args.cache, 1) for e in catalogue(args.furniture)]
    made = [procedural_recipe(c, s, 1) for s in range(100, 104) for c in sorted(CATEGORIES)]
    out = []
    for rows, count in ((entries, args.limit // 2), (made, args.limit - args.limit // 2)):
        held = [r for r in rows if split_of(r.group) == "test"]
        out += [held[i] for i in np.linspace(0, len(held) - 1, count).astype(int)]
    return out


def texels_of(buffers: list[GBuffer]) -> Texels:
    """The pixels of some views as texels; a map of one row."""
    parts = [(b.face[b.mask], b.position[b.mask], b.normal[b.mask]) for b in buffers]
    face, position, normal = (np.concatenate(p) for p in zip(*parts, strict=True))
    return Texels(np.ones((1, len(face)), bool), face, position, normal, normal)


def true_colors(surface: Surface, buffers: list[GBuffer]) -> np.ndarray:
    """Linear base colour of the same pixels."""
    return np.concatenate(
        [sample_material(surface, b.face[b.mask], b.bary[b.mask])[0] for b in buffers]
    )


def picture(colors: np.ndarray, buffers: list[GBuffer]) -> np.ndarray:
    """Views (V, S, S, 3) on white of linear pixel colours."""
    out = np.ones((len(buffers), VIEW_SIZE, VIEW_SIZE, 3), np.float32)
    masks = np.stack([b.mask for b in buffers])
    out[masks] = np.clip(linear_to_srgb(colors), 0.0, 1.0)
    return out


def nearest(caster: Caster, view: PhotoView, coarse: Texels, texels: Texels) -> np.ndarray:
    """The photo where it sees, else along the surface from the nearest seen; no mirror images."""
    color, trust = observe(view, coarse.position, coarse.normal, paint.ON_SURFACE)
    far = complete(caster, coarse.position, coarse.normal, color, trust)
    color, trust = observe(view, texels.position, texels.normal, paint.ON_SURFACE)
    rest = paint._carried(far, coarse, texels, np.arange(len(color)))
    return color * trust[:, None] + rest * (1.0 - trust[:, None])


def scores(recipe: Recipe, args: argparse.Namespace) -> dict[str, Any]:
    """PSNR inside the object and perceptual distance, mean over six views, per method."""
    surface, attributes = recipe.make()
    surface = canonical_surface(surface)
    caster = Caster(surface.mesh)
    rng = np.random.default_rng([7, *recipe.key.encode()])
    camera = random_camera(surface.mesh, attributes["has_front"], rng)
    front = gbuffer(surface, camera, PHOTO_SIZE, caster)
    rgb = np.ones((PHOTO_SIZE, PHOTO_SIZE, 3), np.float32)
    rgb[front.mask] = linear_to_srgb(true_colors(surface, [front]))
    view = register(
        surface.mesh, caster, Subject(rgb, front.mask.astype(np.float32), "alpha"), camera
    )
    turns = [camera.azimuth_rad + k * np.pi / 3 for k in (1, 2, 3, 4, 5)]
    around = [*(orbit_camera(a, 0.25) for a in turns), orbit_camera(camera.azimuth_rad, -0.5)]
    buffers = [gbuffer(surface, c, VIEW_SIZE, caster) for c in around]
    rough = [gbuffer(surface, c, COARSE_SIZE, caster) for c in (*around, camera)]
    texels, coarse = texels_of(buffers), texels_of(rough)
    plain = np.full(3, 0.5)
    found: dict[str, np.ndarray] = {}
    learned = paint._learned(load_completion(args.model), view, None, coarse, texels)
    symmetric = paint._symmetric(caster, view, None, coarse, texels, plain)[0]
    found["symmetric"] = symmetric
    found["model"] = symmetric if learned is None else learned[0]
    found["nearest"] = nearest(caster, view, coarse, texels)
    true = true_colors(surface, buffers)
    truth = picture(true, buffers)
    out: dict[str, Any] = {"key": recipe.key}
    masks = np.stack([b.mask for b in buffers])
    for name, value in found.items():
        image = picture(value, buffers)
        error = np.array(
            [np.square(i - t)[m].mean() for i, t, m in zip(image, truth, masks, strict=True)]
        )
        out[f"psnr_db_{name}"] = float((-10.0 * np.log10(error + 1e-5)).mean())
        out[f"perceptual_{name}"] = float(perceptual_distance(image, truth).mean())
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--model", default=TEXTURE_MODEL)
    parser.add_argument("--furniture", type=Path, default=Path("/usr/share/sweethome3d/furniture"))
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = [scores(recipe, args) for recipe in picked(args)]
    means = {k: round(float(np.mean([r[k] for r in rows])), 4) for k in rows[0] if k != "key"}
    if args.out:
        report = {"count": len(rows), "mean": means, "objects": rows}
        args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps({"count": len(rows), **means}, indent=1))


if __name__ == "__main__":
    main()

"""Albedo, roughness and metallic of held-out photos against the truth, and against baselines.

Every object of the test split is rendered at another size than in training, with a new camera and
light. Baselines: the photo's colour as albedo; the simple removal of light, given the true
normals; constants (medians of the training set) for roughness and metallic.

    python scripts/evaluate_pbr.py --limit 60 --out docs/results/texture_models_photos.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.conventions import linear_to_srgb, srgb_to_linear
from seed3d.data.build import Recipe, canonical_surface, furniture_recipe, procedural_recipe
from seed3d.data.furniture import catalogue
from seed3d.data.procedural import CATEGORIES
from seed3d.data.split import split_of
from seed3d.data.views import random_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, gbuffer
from seed3d.texture.light import fit_shading
from seed3d.texture.models.decompose import decompose
from seed3d.texture.models.weights import TEXTURE_MODEL
from seed3d.train.texture_data import photo
from seed3d.types import Subject

SIZE = 320


def test_recipes(args: argparse.Namespace) -> list[Recipe]:
    """Objects of the test split: furniture and procedural in turn."""
    entries = [furniture_recipe(e, args.cache, 1) for e in catalogue(args.furniture)]
    made = [procedural_recipe(c, s, 1) for s in range(100, 104) for c in sorted(CATEGORIES)]
    kinds = [[r for r in rows if split_of(r.group) == "test"] for rows in (entries, made)]
    picked = []
    for rows, count in zip(kinds, (args.limit // 2, args.limit - args.limit // 2), strict=True):
        picked += [rows[i] for i in np.linspace(0, len(rows) - 1, count).astype(int)]
    return picked


def errors(recipe: Recipe, args: argparse.Namespace) -> dict[str, float]:
    """Mean absolute errors on one photo, in sRGB for colours."""
    surface, attributes = recipe.make()
    surface = canonical_surface(surface)
    caster = Caster(surface.mesh)
    rng = np.random.default_rng([7, *recipe.key.encode()])
    camera = random_camera(surface.mesh, attributes["has_front"], rng)
    buffer = gbuffer(surface, camera, 2 * SIZE, caster)
    shown = photo(surface, camera, buffer, Lighting.random(rng, camera), caster)
    rgb, mask, albedo, material = (
        shown[k].astype(np.float32) / 255 for k in ("rgb", "mask", "albedo", "material")
    )
    found = decompose(Subject(rgb, mask, "alpha"), args.model)
    inside = (mask > 0.99) & buffer.mask[::2, ::2]
    normal, linear = buffer.normal[::2, ::2][inside], srgb_to_linear(rgb[inside])
    shading = fit_shading(linear, normal, np.ones(len(linear)))
    simple = np.clip(linear_to_srgb(shading.remove(linear, normal)), 0.0, 1.0)
    true, rough, metal = albedo[inside], material[inside][:, 0], material[inside][:, 1]
    return {
        "albedo_model": _mae(found.albedo[inside], true),
        "albedo_photo": _mae(rgb[inside], true),
        "albedo_simple_true_normals": _mae(simple, true),
        "roughness_model": _mae(found.roughness[inside], rough),
        "roughness_constant": _mae(np.full_like(rough, args.roughness), rough),
        "metallic_model": _mae(found.metallic[inside], metal),
        "metallic_constant": _mae(np.zeros_like(metal), metal),
    }


def _mae(found: np.ndarray, true: np.ndarray) -> float:
    return float(np.abs(found - true).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--model", default=TEXTURE_MODEL)
    parser.add_argument("--roughness", type=float, default=0.45, help="the constant baseline")
    parser.add_argument("--furniture", type=Path, default=Path("/usr/share/sweethome3d/furniture"))
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for recipe in test_recipes(args):
        rows.append({"key": recipe.key, **errors(recipe, args)})
    means = {k: round(float(np.mean([r[k] for r in rows])), 5) for k in rows[0] if k != "key"}
    report = {"count": len(rows), "mean": means, "objects": rows}
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps({"count": len(rows), **means}, indent=1))


if __name__ == "__main__":
    main()

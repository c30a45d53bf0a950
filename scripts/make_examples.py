"""Render the example photos of held-out objects, and copy the free photograph.

Usage:
    python scripts/make_examples.py --furniture /usr/share/sweethome3d/furniture --out examples
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from seed3d.data.build import canonical_surface, furniture_recipe, procedural_recipe
from seed3d.data.furniture import catalogue
from seed3d.render.cameras import framed_camera
from seed3d.render.lighting import Lighting
from seed3d.render.shade import render
from seed3d.types import Mesh, Surface, SurfaceMaterial

SIZE = 768

# name: (where from, azimuth, elevation [deg]). All are of the test split, which no model saw.
PHOTOS = {
    "mug": (("procedural", "mug", 1004), 30, 22),
    "teapot": (("procedural", "teapot", 1012), 20, 20),
    "sofa": (("furniture", "Scopia_076"), -30, 20),
    "bottle": (("procedural", "squeeze_bottle", 1001), 20, 15),
}


def on_a_floor(surface: Surface) -> Surface:
    """The surface with a large pale floor under it, so that the picture has a real shadow."""
    low = float(surface.mesh.vertices[:, 2].min())
    corners = np.array([[-300, -300], [300, -300], [300, 300], [-300, 300]], float)
    floor = np.column_stack([corners, np.full(4, low - 1e-3)])
    count = len(surface.mesh.vertices)
    faces = np.array([[0, 1, 2], [0, 2, 3]]) + count
    extra = SurfaceMaterial((0.82, 0.81, 0.79), 0.0, 0.9)
    normals = surface.normals
    if normals is not None:
        normals = np.concatenate([normals, np.tile([0.0, 0.0, 1.0], (4, 1))])
    color = surface.vertex_color
    if color is not None:
        color = np.concatenate([color, np.full((4, 3), 255, np.uint8)])
    return Surface(
        Mesh(
            np.concatenate([surface.mesh.vertices, floor]),
            np.concatenate([surface.mesh.faces, faces]),
        ),
        np.concatenate([surface.corner_uv, np.zeros((2, 3, 2))]),
        np.concatenate([surface.face_material, np.full(2, len(surface.materials))]),
        (*surface.materials, extra),
        color,
        normals,
    )


def picture(surface: Surface, azimuth_deg: float, elevation_deg: float) -> Image.Image:
    """A product photo of a surface."""
    surface = canonical_surface(surface)
    camera = framed_camera(
        surface.mesh.vertices, np.deg2rad(azimuth_deg), np.deg2rad(elevation_deg), 5.5, 0.64
    )
    shot = render(on_a_floor(surface), camera, SIZE, Lighting.studio())
    return Image.fromarray(
        np.round(np.clip(shot.over((0.9, 0.9, 0.89)), 0, 1) * 255).astype(np.uint8)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--furniture", type=Path, default=Path("/usr/share/sweethome3d/furniture"))
    parser.add_argument("--cache", type=Path, default=Path("datasets/furniture"))
    parser.add_argument("--out", type=Path, default=Path("examples"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    entries = {entry.key: entry for entry in catalogue(args.furniture)}
    for name, (source, azimuth, elevation) in PHOTOS.items():
        kind, *rest = source
        if kind == "furniture":
            recipe = furniture_recipe(entries[rest[0]], args.cache, 1)
        else:
            recipe = procedural_recipe(rest[0], rest[1], 1)
        surface, attributes = recipe.make()
        picture(surface, azimuth, elevation).save(args.out / f"{name}.png", optimize=True)
        print(f"{name}: {recipe.key} ({attributes['name']}, {attributes['licence']})")
    from skimage import data

    Image.fromarray(data.coffee()).save(args.out / "coffee.jpg", quality=92)
    print("coffee: scikit-image's photograph by Rachel Michetti, CC0")


if __name__ == "__main__":
    main()

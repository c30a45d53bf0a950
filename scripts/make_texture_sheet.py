"""Contact sheet of textures from one photo on random held-out objects, true geometry.

Usage:
    python scripts/make_texture_sheet.py --out docs/texture_sheet.png

Columns: photo, textured from the photo's view, back, left, right, then albedo, roughness and
metallic in the photo's view, and the asset under a new light.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from seed3d.cli.options import resolve
from seed3d.config import Config
from seed3d.evaluate.texture import true_canvas
from seed3d.evaluate.texture_objects import HeldOut, held_out, take_photo
from seed3d.render.cameras import framed_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, gbuffer
from seed3d.render.shade import render, sample_material
from seed3d.texture.paint import paint_from_photo
from seed3d.texture.surface import asset_surface

COLUMNS = ("photo", "photo's view", "back", "left", "right", "albedo", "roughness", "metallic",
           "new light")  # fmt: skip
HEADER = 16


def strip(item: HeldOut, config: Config, size: int) -> np.ndarray:
    """One object's panels (size, 9 * size, 3) uint8."""
    from seed3d.conventions import linear_to_srgb

    photo = take_photo(item)
    canvas = true_canvas(item, photo, config)
    maps = paint_from_photo(
        canvas.mesh, canvas.atlas, photo.subject, canvas.camera, canvas.prior, config.texture
    )
    surface = asset_surface(canvas.mesh, canvas.atlas, maps)
    caster = Caster(surface.mesh)
    camera = photo.camera

    def view(turn_deg: float, light: Lighting) -> np.ndarray:
        turned = framed_camera(
            canvas.mesh.vertices, camera.azimuth_rad + np.deg2rad(turn_deg),
            max(camera.elevation_rad, 0.2), camera.distance,
        )  # fmt: skip
        return render(surface, turned, size, light, 2, caster).over()

    buffer = gbuffer(surface, camera, size, caster)
    materials = np.ones((3, size, size, 3), np.float32)
    base, metallic, roughness = sample_material(
        surface, buffer.face[buffer.mask], buffer.bary[buffer.mask]
    )
    for panel, value in zip(materials, (linear_to_srgb(base), roughness, metallic), strict=True):
        panel[buffer.mask] = value if value.ndim == 2 else value[:, None]
    small = Image.fromarray((photo.subject.rgb * 255).round().astype(np.uint8))
    rng = np.random.default_rng([3, *item.key.encode()])
    studio = [Lighting.studio(camera.azimuth_rad + np.deg2rad(t)) for t in (180, 90, -90)]
    panels = [
        np.asarray(small.resize((size, size), Image.Resampling.BOX)) / 255.0,
        render(surface, camera, size, photo.lighting, 2, caster).over(),
        *(view(t, light) for t, light in zip((180, 90, -90), studio, strict=True)),
        *materials,
        render(surface, camera, size, Lighting.random(rng, camera), 2, caster).over(),
    ]
    return (np.clip(np.concatenate(panels, axis=1), 0, 1) * 255 + 0.5).astype(np.uint8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("datasets"))
    parser.add_argument("--furniture", type=Path, default=Path("/usr/share/sweethome3d/furniture"))
    parser.add_argument("--split", default="test", choices=["val", "test"])
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    config = resolve({"preset": args.preset, "sets": args.sets})
    objects = held_out(
        args.data / "objects", args.furniture, args.data / "furniture", args.split, None, "all"
    )
    chosen = np.random.default_rng(args.seed).choice(len(objects), args.count, replace=False)
    rows = []
    for index in sorted(chosen):
        key, make = objects[index]
        rows.append(strip(make(), config, args.size))
        print(key, flush=True)
        sheet(rows, args.size).save(args.out, optimize=True)


def sheet(rows: list[np.ndarray], size: int) -> Image.Image:
    """All strips under a line of column names."""
    head = Image.new("RGB", (size * len(COLUMNS), HEADER), "white")
    draw = ImageDraw.Draw(head)
    for i, name in enumerate(COLUMNS):
        draw.text((i * size + 4, 2), name, fill="black")
    return Image.fromarray(np.concatenate([np.asarray(head), *rows]))


if __name__ == "__main__":
    main()

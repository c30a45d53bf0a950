"""Compare the renderer with Mitsuba 3 (a path tracer, BSD licence) on the same scenes.

Usage:
    pip install mitsuba
    python scripts/check_renderer.py --json docs/results/renderer.json

A sphere under a sun and an even sky, and a torus that shadows itself under a sun alone, for
matte and metallic surfaces of several roughnesses; direct light only in both renderers. Mitsuba's
"principled" surface differs from glTF's in its diffuse lobe (Disney's, with retroreflection).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from seed3d.conventions import srgb_to_linear
from seed3d.render.cameras import orbit_camera
from seed3d.render.lighting import DirectionalLight, Lighting
from seed3d.render.shade import render
from seed3d.types import Camera, Mesh, Surface, SurfaceMaterial

BASE = (0.75, 0.45, 0.25)
SUN = DirectionalLight(0.5, 0.7, (0.5, 0.5, 0.5))
BRIGHT = 0.75
"""Linear value above which ours compresses highlights: left out of the comparison."""


def mitsuba_picture(
    mi: Any,
    mesh: trimesh.Trimesh,
    material: SurfaceMaterial,
    camera: Camera,
    size: int,
    sky: float,
    samples: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Linear colours (size, size, 3) and coverage (size, size) by Mitsuba."""
    fov = float(np.rad2deg(2 * np.arctan(1 / camera.focal)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mesh.ply"
        mesh.export(path, vertex_normal=True)
        scene: dict[str, Any] = {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": 2, "hide_emitters": True},
            "sensor": {
                "type": "perspective", "fov": fov,
                "to_world": mi.ScalarTransform4f().look_at(
                    camera.position.tolist(), [0, 0, 0], [0, 0, 1]
                ),
                "film": {"type": "hdrfilm", "width": size, "height": size,
                         "pixel_format": "rgba", "rfilter": {"type": "box"}},
                "sampler": {"type": "independent", "sample_count": samples},
            },
            "shape": {
                "type": "ply", "filename": str(path),
                "bsdf": {"type": "twosided", "inner": {
                    "type": "principled", "roughness": material.roughness,
                    "metallic": material.metallic, "specular": 0.5,
                    "base_color": {"type": "rgb", "value": srgb_to_linear(
                        np.array(material.base_color)).tolist()},
                }},
            },
            "sun": {"type": "directional", "direction": (-SUN.direction).tolist(),
                    "irradiance": {"type": "rgb", "value": (np.pi * np.array(SUN.color)).tolist()}},
        }  # fmt: skip
        if sky:
            scene["sky"] = {"type": "constant", "radiance": {"type": "rgb", "value": sky}}
        image = np.array(mi.render(mi.load_dict(scene), seed=0))
    alpha = np.clip(image[..., 3], 0, 1)
    return image[..., :3] / np.maximum(alpha, 1e-3)[..., None], alpha


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--samples", type=int, default=64)
    args = parser.parse_args()
    import mitsuba as mi

    mi.set_variant("scalar_rgb")
    camera = orbit_camera(0.2, 0.35)
    shapes = {
        "sphere, sun and sky": (trimesh.creation.icosphere(5, 0.9), 0.3),
        "torus, sun with shadows": (
            trimesh.creation.torus(0.6, 0.28, major_sections=128, minor_sections=64), 0.0),
    }  # fmt: skip
    rows = []
    for name, (shape, sky) in shapes.items():
        for metallic, roughness in ((0.0, 0.9), (0.0, 0.5), (1.0, 0.6), (1.0, 0.3)):
            look = SurfaceMaterial(BASE, metallic, roughness)
            mesh = Mesh.from_trimesh(shape)
            count = len(mesh.faces)
            surface = Surface(mesh, np.zeros((count, 3, 2)), np.zeros(count, np.int64), (look,),
                              normals=np.array(shape.vertex_normals))  # fmt: skip
            light = Lighting((SUN,), (sky,) * 3, (sky,) * 3)
            ours = render(surface, camera, args.size, light, 4)
            theirs, alpha = mitsuba_picture(mi, shape, look, camera, args.size, sky, args.samples)
            linear = srgb_to_linear(ours.rgb)
            solid = (ours.alpha == 1) & (alpha > 0.999)
            use = solid & (theirs.max(axis=-1) < BRIGHT)
            gap = np.abs(linear - theirs)[use]
            rows.append({
                "scene": name, "metallic": metallic, "roughness": roughness,
                "coverage_mean_abs_difference": float(np.abs(ours.alpha - alpha).mean()),
                "pixels": int(use.sum()), "mean_light": float(theirs[use].mean()),
                "mean_abs_difference": float(gap.mean()),
                "bias": float((linear - theirs)[use].mean()),
                "p95_abs_difference": float(np.quantile(gap, 0.95)),
            })  # fmt: skip
            print(json.dumps(rows[-1]), flush=True)
    if args.json:
        table = {"mitsuba": mi.__version__, "size": args.size, "samples": args.samples}
        args.json.write_text(json.dumps({**table, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

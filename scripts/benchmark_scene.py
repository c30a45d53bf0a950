"""A heap of 30 assets in both engines, and a composed photo of four known objects.

Usage:
    python scripts/benchmark_scene.py --cache out/scene_assets --out out/scene_benchmark \
        --json docs/results/scene.json
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from seed3d import load_preset, simready
from seed3d.config import Config
from seed3d.data.build import procedural_recipe
from seed3d.errors import Seed3DError
from seed3d.export import asset_files, load, write_files
from seed3d.image.load import Photo
from seed3d.scene import Scene
from seed3d.types import Asset, Camera, Mesh, Surface, SurfaceMaterial

HEAP = ("mug", "teapot", "squeeze_bottle")
SOLIDS = ("brick", "can", "ball", "tray")
TABLE = (("mug", 1004, (0.02, -0.28), 200.0), ("teapot", 1012, (-0.12, 0.05), 150.0),
         ("squeeze_bottle", 1001, (0.1, 0.3), 170.0), ("bowl", 1003, (0.2, 0.0), 0.0))  # fmt: skip
TABLE_WIDTH_M = 0.9
PITCH_DEG, FOV_DEG, DISTANCE_M, SIZE = 28.0, 40.0, 1.5, 640


def procedural_asset(category: str, seed: int, cache: Path, config: Config) -> Asset:
    """A procedural object through `simready`, kept in `cache`."""
    folder = cache / f"{category}_{seed}"
    if not (folder / "report.json").is_file():
        surface, _ = procedural_recipe(category, seed, 1).make()
        path = cache / f"{category}_{seed}.obj"
        cache.mkdir(parents=True, exist_ok=True)
        surface.mesh.to_trimesh().export(path)
        asset = simready(path, config, up="z")
        write_files(asset_files(asset), folder)
    return load(folder)


def solid_asset(kind: str, cache: Path, config: Config) -> Asset:
    """A simple body through `simready`, kept in `cache`."""
    from trimesh import boolean, creation

    folder = cache / kind
    if not (folder / "report.json").is_file():
        if kind == "brick":
            mesh = creation.box((0.1, 0.06, 0.04))
        elif kind == "can":
            mesh = creation.cylinder(0.033, 0.12)
        elif kind == "ball":
            mesh = creation.icosphere(3, 0.04)
        else:
            inner = creation.box((0.28, 0.18, 0.12))
            inner.apply_translation((0.0, 0.0, 0.01))
            mesh = boolean.difference([creation.box((0.3, 0.2, 0.12)), inner])
        cache.mkdir(parents=True, exist_ok=True)
        mesh.export(cache / f"{kind}.stl")
        write_files(asset_files(simready(cache / f"{kind}.stl", config)), folder)
    return load(folder)


def heap_assets(cache: Path) -> list[Asset]:
    """What the heap is drawn from."""
    config = load_preset("smoke")
    assets = [procedural_asset(kind, 1000 + i, cache, config) for i, kind in enumerate(HEAP)]
    return assets + [solid_asset(kind, cache, config) for kind in SOLIDS]


def heap(
    assets: list[Asset], count: int, seed: int, seconds: float, hold: float, out: Path | None
) -> dict[str, Any]:
    """Drop, settle and hold in each engine.

    Args:
        assets: What to draw from.
        count: Objects.
        seed: Of the drop.
        seconds: Longest settling [s].
        hold: How long each engine then holds its own heap [s].
        out: Where the settled scenes go.
    """
    start = Scene("heap", seed)
    start.drop(assets, count)
    rows: dict[str, Any] = {"assets": len(start.assets), "objects": count,
                            "hulls": sum(len(start.assets[i.asset].collision.hulls)
                                         for i in start.items.values())}  # fmt: skip
    passed = True
    for engine in ("mujoco", "pybullet"):
        scene = copy.deepcopy(start)
        try:
            result = scene.settle(engine, seconds)
        except Seed3DError as error:
            rows[engine], passed = {"error": str(error)}, False
            continue
        held = scene.check((engine,), hold)["engines"][engine]
        passed &= held["passed"] and result["at_rest"]
        keys = ("at_rest", "settle_s", "seconds", "penetration_mm", "fastest_m_s", "load_s",
                "steps_per_s")  # fmt: skip
        rows[engine] = {k: result[k] for k in keys}
        rows[engine]["lowest_mm"] = min(result["lowest_mm"].values())
        rows[engine]["hold"] = {k: v for k, v in held.items() if k != "supports"}
        if out is not None:
            scene.save(out / engine, overview_size=384)
        print(json.dumps({engine: rows[engine]}), flush=True)
    return {**rows, "passed": passed}


def table_photo() -> tuple[np.ndarray, list[np.ndarray], list[dict[str, Any]]]:
    """Render the four known objects on a table: picture, masks, truth."""
    from seed3d.render.lighting import Lighting
    from seed3d.render.raycast import Caster, gbuffer
    from seed3d.render.shade import render
    from seed3d.scene.overview import _joined
    from seed3d.scene.parts import Pose
    from seed3d.texture.surface import shaded_surface

    parts, truth = [], []
    for category, seed, (x, y), yaw_deg in TABLE:
        surface, _ = procedural_recipe(category, seed, 1).make()
        pose = Pose.upright(x, y, 0.0, math.radians(yaw_deg))
        low, high = surface.mesh.bounds
        base = surface.mesh.vertices - np.array([*((low + high)[:2] / 2), low[2]])
        normals = None if surface.normals is None else surface.normals @ pose.rotation.T
        surface = Surface(Mesh(pose.apply(base), surface.mesh.faces), surface.corner_uv,
                          surface.face_material, surface.materials, surface.vertex_color, normals)  # fmt: skip
        plain = shaded_surface(surface.mesh, surface.materials[0])
        parts.append(plain)
        truth.append({"category": category, "x": x, "y": y,
                      "size_m": float(surface.mesh.extents.max())})  # fmt: skip
    half = TABLE_WIDTH_M / 2
    corners = np.array([[-0.4, -half, -1e-3], [0.45, -half, -1e-3], [0.45, half, -1e-3],
                        [-0.4, half, -1e-3]])  # fmt: skip
    top = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    parts.append(shaded_surface(top, SurfaceMaterial((0.86, 0.84, 0.8), 0.0, 0.9)))
    camera = Camera(
        0.0, math.radians(PITCH_DEG), DISTANCE_M, 1 / math.tan(math.radians(FOV_DEG) / 2)
    )
    whole = _joined(parts, np.zeros(3))
    shot = render(whole, camera, SIZE, Lighting.studio()).over((0.72, 0.76, 0.8))
    buffer = gbuffer(whole, camera, SIZE, Caster(whole.mesh))
    first = np.cumsum([0, *(len(p.mesh.faces) for p in parts)])
    masks = [((buffer.face >= a) & (buffer.face < b)).astype(np.uint8) * 255
             for a, b in itertools.pairwise(first[:-1])]  # fmt: skip
    return np.round(np.clip(shot, 0, 1) * 255).astype(np.uint8), masks, truth


def table(preset: str, out: Path | None, assets: list[Asset] | None = None) -> dict[str, Any]:
    """Recover the table from its photo. With `assets` only the layout is measured."""
    from seed3d.export.encode import png
    from seed3d.scene.from_photo import assemble, photo_focal, scene_from_photo

    rgb, masks, truth = table_photo()
    data = png(rgb)
    if assets is None:
        scene = scene_from_photo(data, masks=masks, config=load_preset(preset), fov_deg=FOV_DEG,
                                 name="table")  # fmt: skip
    else:
        focal, source = photo_focal(data, Photo(rgb, None), FOV_DEG)
        scene = assemble("table", assets, masks, Photo(rgb, None), focal, source, None, None)
    order = np.argsort([np.flatnonzero((m >= 128).any(axis=0)).mean() for m in masks])
    order = list(range(len(masks))) if assets is not None else order.tolist()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "photo.png").write_bytes(data)
        scene.save(out / "scene", overview_size=512)
    return compare(scene, [truth[i] for i in order])


def compare(scene: Scene, truth: list[dict[str, Any]]) -> dict[str, Any]:
    """Positions after the best shift and scale of the whole; sizes relative to each other."""
    items = list(scene.items.values())
    found = np.array([i.pose.position[:2] for i in items])
    sizes = np.array([scene.assets[i.asset].mesh.extents.max() for i in items])
    want = np.array([[t["x"], t["y"]] for t in truth])
    true = np.array([t["size_m"] for t in truth])
    scale = float(np.exp(np.mean(np.log(true / sizes))))
    centred = scale * (found - found.mean(axis=0))
    errors = np.linalg.norm(centred - (want - want.mean(axis=0)), axis=1) / TABLE_WIDTH_M
    relative = sizes * scale / true
    return {
        "found": len(items), "wanted": len(truth),
        "position_error_share_of_table": [round(float(v), 4) for v in errors],
        "relative_size": [round(float(v), 4) for v in relative],
        "absolute_scale": round(1 / scale, 4),
        "passed": bool(len(items) == len(truth) and errors.max() <= 0.1
                       and np.abs(relative - 1).max() <= 0.3),
        "notes": scene.notes,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path("out/scene_assets"))
    parser.add_argument("--out", type=Path, default=Path("out/scene_benchmark"))
    parser.add_argument("--json", type=Path, default=Path("docs/results/scene.json"))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0, help="longest settling")
    parser.add_argument("--hold", type=float, default=10.0, help="then held for this long")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--only", choices=["heap", "table"])
    args = parser.parse_args()
    rows: dict[str, Any] = json.loads(args.json.read_text()) if args.json.exists() else {}
    began = time.perf_counter()
    if args.only != "table":
        assets = heap_assets(args.cache)
        rows["heap"] = heap(assets, args.count, args.seed, args.seconds, args.hold, args.out)
    if args.only != "heap":
        rows["table"] = {"preset": args.preset, **table(args.preset, args.out / "table")}
        print(json.dumps(rows["table"]), flush=True)
    rows["seconds"] = round(time.perf_counter() - began, 1)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""What a worker process can do. Plain data in and out, files in the job's folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seed3d.config import Config, ImageConfig, PhysicsConfig, from_dict, load_preset, update
from seed3d.errors import InputError
from seed3d.pipeline import Progress
from seed3d.types import Asset, Verdict

ASSET, VIEW, ZIPS, CLIP = "asset", "view.json", "zips", "drop.webp"
"""Folders and files of a job."""


def find_mask(progress: Progress, photo: str, name: str, max_pixels: int, mask: str) -> Any:
    """Return `masks.mask_view` of a photo."""
    from seed3d.web.masks import mask_view

    config = from_dict(ImageConfig, {"max_pixels": max_pixels, "mask": mask})
    with progress("image"):
        return mask_view(Path(photo).read_bytes(), name, config)


def make_photo(
    progress: Progress,
    photo: str,
    name: str,
    folder: str,
    preset: str,
    options: dict[str, Any],
    strokes: list[dict[str, Any]] | None = None,
) -> Any:
    """Make an asset from a photo, and what the page shows of it."""
    from seed3d.pipeline import generate
    from seed3d.web.masks import edited_mask

    config = update(load_preset(preset), options)
    data = Path(photo).read_bytes()
    mask = edited_mask(data, name, config.image, strokes or [])
    return _finish(progress, generate(data, config, name, progress, mask), config, Path(folder))


def make_mesh(
    progress: Progress,
    mesh: str,
    name: str,
    folder: str,
    preset: str,
    options: dict[str, Any],
    up: str | None,
    unit_m: float,
) -> Any:
    """Make an asset from a mesh file, and what the page shows of it."""
    from seed3d.pipeline import simready

    config = update(load_preset(preset), options)
    asset = simready(Path(mesh), config, name, progress, up, unit_m)
    return _finish(progress, asset, config, Path(folder))


def change_physics(progress: Progress, source: str, folder: str, options: dict[str, Any]) -> Any:
    """Give an asset of another job new size, material or mass."""
    from seed3d.export import load
    from seed3d.pipeline import with_physics

    with progress("load"):
        asset = load(Path(source) / ASSET)
        made = {**asset.inputs["config"], "physics": {}}
        config = from_dict(Config, made)
    physics = from_dict(PhysicsConfig, options)
    changed = with_physics(asset, physics, progress)
    return _finish(progress, changed, config, Path(folder))


def film(progress: Progress, folder: str, fps: float, size: int) -> str:
    """Film the asset's fall and return the path of the clip."""
    from seed3d.export import load
    from seed3d.web.clip import drop_clip, drop_motion

    asset = load(Path(folder) / ASSET)
    mjcf = Path(folder) / ASSET / f"{asset.name}.xml"
    if not mjcf.is_file():
        raise InputError("no clip: the asset was made without MJCF, which the film's engine reads")
    with progress("clip"):
        motion = drop_motion(mjcf, float(asset.mesh.extents.max()), fps)
        path = Path(folder) / CLIP
        path.write_bytes(drop_clip(asset, motion, size))
    return str(path)


def make_scene(progress: Progress, **arguments: Any) -> Any:
    """Put assets of other jobs into a scene; see `scene_task.make_scene`."""
    from seed3d.web.scene_task import make_scene as run

    return run(progress, **arguments)


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (find_mask, make_photo, make_mesh, change_physics, film, make_scene)
}


def _finish(progress: Progress, asset: Asset, config: Config, folder: Path) -> dict[str, Any]:
    from seed3d.pipeline import save
    from seed3d.web.downloads import PARTS, zip_asset
    from seed3d.web.viewer import view_data

    # The interactive view does what the turntable does.
    export = dataclasses.replace(config.export, turntable_frames=0)
    verdict = save(asset, folder / ASSET, dataclasses.replace(config, export=export), progress)
    with progress("pack"):
        view = json.dumps(view_data(asset)).encode()
        _write(folder, {VIEW: view})
        zips = {
            f"{asset.name}_{form}.zip": zip_asset(folder / ASSET, asset.name, form)
            for form in (*(f for f in PARTS if f in config.export.formats), "all")
        }
        _write(folder / ZIPS, zips)
    return facts(asset, verdict)


def facts(asset: Asset, verdict: Verdict) -> dict[str, Any]:
    """Return what the page tells of an asset, as plain data."""
    from seed3d.report import all_fallbacks
    from seed3d.verify import to_json

    estimates = {
        key: {"value": e.value, "source": e.source, "note": e.note, "low": e.low, "high": e.high}
        for key, e in asset.estimates.items()
        if key in ("size_m", "height_m", "mass_kg", "material", "category", "friction",
                   "silhouette_iou")
    }  # fmt: skip
    return {
        "name": asset.name,
        "extents_m": asset.mesh.extents.tolist(),
        "mass_kg": asset.body.mass_kg,
        "com_m": asset.body.com_m.tolist(),
        "inertia_kg_m2": asset.body.inertia_kg_m2.tolist(),
        "friction": asset.body.friction,
        "faces": len(asset.mesh.faces),
        "hulls": len(asset.collision.hulls),
        "estimates": estimates,
        "notes": [f"{f.stage}: {f.what}" for f in all_fallbacks(asset)],
        "verdict": to_json(verdict),
        "timings_s": asset.timings_s,
    }


def _write(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)

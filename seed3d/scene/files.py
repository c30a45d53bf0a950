"""Scene to files. Pure: a scene in, relative path to bytes out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.errors import ExportError, near_miss
from seed3d.export import asset_files
from seed3d.export.obj import obj_files
from seed3d.export.urdf import urdf_files
from seed3d.report import dump, versions
from seed3d.scene.glb import glb_scene
from seed3d.scene.layout import to_layout
from seed3d.scene.mjcf import asset_folder, mjcf_scene
from seed3d.scene.urdf import LOADER, LOADER_TEXT, block_urdf
from seed3d.scene.usd import usd_scene

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

FORMATS = ("mjcf", "urdf", "usd", "glb")
REPORT = "report.json"
POINTS = "points.json"
"""Corners of every collision body of an asset, for the engines' measurements alone."""


def scene_files(
    scene: Scene, formats: tuple[str, ...] = FORMATS, overview_size: int = 768,
    checks: dict[str, Any] | None = None,
) -> dict[str, bytes]:  # fmt: skip
    """Return every file of a scene, report.json last; same scene, same bytes.

    Args:
        scene: The scene.
        formats: Of `FORMATS`. scene.json and the assets' meshes and textures are always there.
        overview_size: Side of overview.png [pixel]; 0 writes none.
        checks: Result of `Scene.check`, for the report.

    Raises:
        ExportError: Unknown format, or an asset that can't be written.
    """
    for name in formats:
        if name not in FORMATS:
            raise ExportError(f"unknown format {name!r}.{near_miss(name, FORMATS)}")
    files: dict[str, bytes] = {"scene.json": dump(to_layout(scene))}
    for key, asset in scene.assets.items():
        for path, content in asset_files(asset, formats).items():
            if path != "timings.json":
                files[f"{asset_folder(key)}/{path}"] = content
    if "mjcf" in formats:
        files["scene.xml"] = mjcf_scene(scene)
    if "urdf" in formats:
        files.update({f"blocks/{b.name}.urdf": block_urdf(b) for b in scene.blocks.values()})
        files[LOADER] = LOADER_TEXT.encode()
    if "usd" in formats:
        files["scene.usda"] = usd_scene(scene)
    if "glb" in formats:
        files["scene.glb"] = glb_scene(scene)
    if overview_size:
        from seed3d.export.encode import png
        from seed3d.scene.overview import overview

        files["overview.png"] = png(overview(scene, overview_size))
    report = {
        "format": "seed3d-scene-report",
        "format_version": 1,
        "name": scene.name,
        "formats": list(formats),
        "versions": versions(),
        "settled": scene.settled,
        "notes": scene.notes,
        "told_layout": scene.told_layout,
        "checks": checks,
        "files": {path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
    }
    return {**files, REPORT: dump(report)}


def physics_files(scene: Scene) -> dict[str, bytes]:
    """Return what the engines need to simulate: no textures, no visual meshes."""
    files: dict[str, bytes] = {"scene.json": dump(to_layout(scene))}
    for key, asset in scene.assets.items():
        hulls = {path: text for path, text in obj_files(asset).items() if "hull_" in path}
        points = np.concatenate([hull.vertices for hull in asset.collision.hulls])
        urdf = {path: _unseen(text) for path, text in urdf_files(asset).items()}
        for path, content in {**hulls, **urdf, POINTS: dump(points)}.items():
            files[f"{asset_folder(key)}/{path}"] = content
    files["scene.xml"] = mjcf_scene(scene, visuals=False)
    files.update({f"blocks/{b.name}.urdf": block_urdf(b) for b in scene.blocks.values()})
    return files


def _unseen(urdf: bytes) -> bytes:
    """A URDF without its visuals, whose files aren't there."""
    from xml.etree import ElementTree

    root = ElementTree.fromstring(urdf)
    for link in root.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    return ElementTree.tostring(root)

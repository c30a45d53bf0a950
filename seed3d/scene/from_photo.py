"""One photo of several objects to a scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.config import Config, VlmConfig, update
from seed3d.errors import StageError
from seed3d.image.load import Photo, decode, read_file
from seed3d.scene.parts import Pose
from seed3d.scene.photo_layout import (
    PhotoLayout,
    Seen,
    camera_height,
    estimate_layout,
    focal_from_fov,
    mask_box,
)
from seed3d.scene.photo_stack import ask_about, find_objects, put_on, told_report
from seed3d.scene.segment import Segmenter, object_masks, told_apart
from seed3d.scene.vlm_layout import ToldLayout
from seed3d.types import Asset, Estimate

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

FOV_DEG = 50.0
"""Angle of view across the longer side that is assumed without --fov or EXIF: a phone's, cropped."""
_NORMAL_80 = 1.2816


def scene_from_photo(
    photo: str | Path | bytes, *, masks: Sequence[np.ndarray] = (),
    boxes: Sequence[tuple[float, float, float, float]] = (),
    segmenter: Segmenter | None = None, config: Config | None = None,
    fov_deg: float | None = None, pitch_deg: float | None = None,
    camera_height_m: float | None = None, name: str | None = None, progress: Any = None,
    layout_vlm: VlmConfig | None = None,
) -> Scene:  # fmt: skip
    """Make a scene of the objects in a photo, standing where they stand there.

    Args:
        photo: Path or bytes of an image.
        masks: See `object_masks`, likewise boxes and segmenter.
        boxes: Left, top, right, bottom [pixel].
        segmenter: A model of the user's.
        config: For the assets.
        fov_deg: Angle of view across the longer side; from EXIF, else `FOV_DEG`, where None.
        pitch_deg: How far the camera looks down; estimated where None.
        camera_height_m: Above the plane; from the objects' estimated sizes where None.
        name: Of the scene.
        progress: As in `seed3d.generate`.
        layout_vlm: Endpoint of a vision-language model that is asked what stands on what, and
            where the objects are if nothing else tells; None asks none. Its answer, or why it
            was refused, is in `scene.told_layout` and `scene.notes`.

    Returns:
        The scene, not settled. `scene.notes` tells what was assumed and estimated.

    Raises:
        ConfigError: The model's endpoint is no URL or its key is missing.
        InputError: The photo, a mask or a box can't be used.
        StageError: An object can't be found, made or placed.
    """
    from seed3d.pipeline import generate

    config = config or Config()
    data = photo if isinstance(photo, bytes) else read_file(Path(photo))
    label = name or ("photo" if isinstance(photo, bytes) else Path(photo).stem)
    picture = decode(data, label, config.image)
    if layout_vlm is not None and not told_apart(picture, masks, boxes, segmenter):
        found, told = find_objects(picture, layout_vlm, label)
    else:
        found = object_masks(picture, masks, boxes, segmenter, label)
        told = None if layout_vlm is None else ask_about(picture, found, layout_vlm)
    config = update(config, {"physics": {"height": None, "length": None, "mass": None}})
    assets = [
        generate(data, config, f"{label}_{i + 1}", progress, mask) for i, mask in enumerate(found)
    ]
    focal, source = photo_focal(data, picture, fov_deg)
    return assemble(label, assets, found, picture, focal, source, pitch_deg, camera_height_m,
                    config.seed, told)  # fmt: skip


def assemble(
    label: str, assets: Sequence[Asset], masks: Sequence[np.ndarray], photo: Photo,
    focal_px: float, focal_source: str, pitch_deg: float | None, camera_height_m: float | None,
    seed: int = 0, told: ToldLayout | str | None = None,
) -> Scene:  # fmt: skip
    """Place finished assets (with their photo cameras) where their masks are.

    Args:
        label: Name of the scene.
        assets: One per mask.
        masks: (H, W) uint8 each.
        photo: Decoded.
        focal_px: Focal length [pixel].
        focal_source: Where that comes from, in a word.
        pitch_deg: As `scene_from_photo`, likewise camera_height_m.
        camera_height_m: Above the plane [m].
        seed: Of the scene.
        told: What a vision-language model told of the objects, or why it was refused.
    """
    from seed3d.scene.scene import Scene
    from seed3d.scene.shapes import scaled

    height, width = photo.rgb.shape[:2]
    seen = [_seen(asset, mask) for asset, mask in zip(assets, masks, strict=True)]
    pitch = None if pitch_deg is None else math.radians(pitch_deg)
    on = told.on if isinstance(told, ToldLayout) else (None,) * len(seen)
    layout = estimate_layout(seen, (width, height), focal_px, pitch, on)
    spans = [float(np.ptp(o.vertices, axis=0).max()) for o in seen]
    sizes = [_size(asset) for asset in assets]
    up = camera_height_m or camera_height(layout, spans, sizes)
    scene = Scene(label, seed)
    middle = np.mean([[o.x, o.y] for o in layout.objects], axis=0)
    names: dict[int, str] = {}
    for index, (asset, o) in enumerate(zip(assets, layout.objects, strict=True)):
        if on[index] is None:
            x, y = (np.array([o.x, o.y]) - middle) * up
            pose = Pose.upright(float(x), float(y), 1e-4, o.yaw_rad)
            names[index] = scene.add(
                scaled(asset, o.scale * up), position=pose.position, quaternion=pose.quaternion
            )
    moved = push_apart(scene)
    stacked = put_on(scene, names, assets, layout, on, up)
    back = np.array([math.cos(layout.pitch_rad), 0.0, math.sin(layout.pitch_rad)])
    eye = np.array([-middle[0] * up, -middle[1] * up, up])
    fov = 2 * math.degrees(math.atan(max(width, height) / 2 / focal_px))
    target = eye - back * up / max(back[2], 0.05)
    scene.add_camera("photo", eye.tolist(), target.tolist(), fov)
    scene.notes = _notes(layout, up, focal_source, pitch_deg, camera_height_m, fov, moved)
    scene.notes += stacked
    if isinstance(told, str):
        scene.notes.append(told)
        scene.told_layout = {"refused": told}
    elif told is not None:
        scene.told_layout = told_report(told, names)
    return scene


def photo_focal(data: bytes, photo: Photo, fov_deg: float | None) -> tuple[float, str]:
    """Return the focal length [pixel] and where it comes from."""
    import io

    from PIL import Image

    height, width = photo.rgb.shape[:2]
    if fov_deg is not None:
        return focal_from_fov(fov_deg, width, height), "given"
    with Image.open(io.BytesIO(data)) as image:
        equivalent = image.getexif().get_ifd(0x8769).get(0xA405)  # FocalLengthIn35mmFilm
    if equivalent and float(equivalent) > 5:
        return float(equivalent) / 36.0 * max(width, height), "EXIF"
    return focal_from_fov(FOV_DEG, width, height), "assumed"


def push_apart(scene: Scene, rounds: int = 60) -> float:
    """Move overlapping objects apart on the ground; return the longest way [m]."""
    from seed3d.scene.gaps import Gaps

    start = {n: np.array(i.pose.position) for n, i in scene.items.items()}
    for _ in range(rounds):
        overlap = False
        for name, item in list(scene.items.items()):
            gaps = Gaps(scene, item.asset, name).to_each(item.pose, 1e-3)
            for other, gap in gaps.items():
                if gap >= 2e-4:
                    continue
                overlap = True
                if other not in scene.items:
                    scene.move(name, by=(0.0, 0.0, 2e-4 - gap))
                    continue
                here = np.array(scene.items[name].pose.position)[:2]
                away = here - np.array(scene.items[other].pose.position)[:2]
                away = away / max(float(np.linalg.norm(away)), 1e-9)
                step = (5e-4 - gap) / 2 * away
                scene.move(name, by=(*step, 0.0))
                scene.move(other, by=(*-step, 0.0))
        if not overlap:
            break
    ways = [np.linalg.norm(np.array(i.pose.position) - start[n]) for n, i in scene.items.items()]
    return float(max(ways, default=0.0))


def _seen(asset: Asset, mask: np.ndarray) -> Seen:
    if asset.camera is None:
        raise StageError(
            f"{asset.name}: got an asset without a photo camera; wanted one of a photo"
        )
    camera = asset.camera
    return Seen(asset.mesh.vertices, camera.azimuth_rad, camera.elevation_rad, mask_box(mask))


def _size(asset: Asset) -> tuple[float, float]:
    estimate = asset.estimates.get("size_m", Estimate(None, "prior"))
    value = float(asset.mesh.extents.max())
    if estimate.low and estimate.high and estimate.high > estimate.low:
        return value, math.log(estimate.high / estimate.low) / (2 * _NORMAL_80)
    return value, 0.3


def _notes(
    layout: PhotoLayout, up: float, focal_source: str, pitch_deg: float | None,
    camera_height_m: float | None, fov: float, moved: float,
) -> list[str]:  # fmt: skip
    notes = [
        "assumed: pinhole camera without roll; every object stands upright on one plane",
        f"angle of view {fov:.1f} degrees across the longer side: {focal_source}",
        f"camera pitch {math.degrees(layout.pitch_rad):.1f} degrees down: "
        + ("given" if pitch_deg is not None else "fitted to the objects' views and outlines"),
        f"camera {up:.3f} m above the plane: "
        + ("given" if camera_height_m else "from the objects' estimated sizes, weighted"),
    ]
    for index, o in enumerate(layout.objects):
        if o.residual > 0.08:
            notes.append(
                f"object {index + 1}: its outline fits only to {o.residual:.0%} of its size"
            )
    if moved > 1e-3:
        notes.append(f"objects overlapped and were moved apart by up to {1e3 * moved:.1f} mm")
    return notes

"""Objects of a photo that stand on others, by what a vision-language model tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.chat import Refused
from seed3d.config import VlmConfig
from seed3d.errors import StageError
from seed3d.image.load import Photo
from seed3d.scene.parts import GROUND
from seed3d.scene.photo_layout import PhotoLayout, bottom_up, mask_box
from seed3d.scene.segment import from_left, object_masks
from seed3d.scene.vlm_layout import ToldLayout, ask_layout
from seed3d.types import Asset

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

INWARDS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Places between where an object seems to stand on another and its middle, tried in this order."""


def find_objects(
    picture: Photo, config: VlmConfig, label: str
) -> tuple[list[np.ndarray], ToldLayout]:
    """Return masks of the objects that a vision-language model finds, left to right, and more.

    Raises:
        StageError: It gives no usable answer, or there is no object in a box.
    """
    try:
        told = ask_layout(picture.rgb, (), config)
    except Refused as error:
        raise StageError(
            f"{label}: nothing tells the objects apart but the vision-language model "
            f"{config.model}, and of that {error}. Ask again, or give --masks or --boxes"
        ) from error
    masks = [
        object_masks(picture, boxes=(box,), name=f"{label}: {name}")[0]
        for box, name in zip(told.boxes, told.names, strict=True)
    ]
    order = sorted(range(len(masks)), key=lambda i: from_left(masks[i]))
    return [masks[i] for i in order], told.ordered(order)


def ask_about(picture: Photo, masks: Sequence[np.ndarray], config: VlmConfig) -> ToldLayout | str:
    """Return what a vision-language model tells of known objects, or why that was refused."""
    try:
        return ask_layout(picture.rgb, [mask_box(mask) for mask in masks], config)
    except Refused as error:
        return f"vision-language model {config.model}: {error}; every object is put on the plane"


def put_on(
    scene: Scene, names: dict[int, str], assets: Sequence[Asset], layout: PhotoLayout,
    on: Sequence[int | None], up: float,
) -> list[str]:  # fmt: skip
    """Add the objects that others carry; put their names into `names`, return notes.

    Raises:
        StageError: One has no place on its carrier.
    """
    from seed3d.scene.place import scene_meshes
    from seed3d.scene.shapes import scaled

    notes = []
    for index in bottom_up(on):
        below = on[index]
        if below is None:
            continue
        own, carrier, target = layout.objects[index], layout.objects[below], names[below]
        way = np.array([own.x - carrier.x, own.y - carrier.y]) * up
        middle = scene_meshes(scene)[target].bounds[:, :2].mean(axis=0)
        spot = np.array(scene.items[target].pose.position[:2]) + way - middle
        asset = scaled(assets[index], own.scale * up)
        for share in INWARDS:
            try:
                names[index] = scene.add(
                    asset, on=target, at=(share * spot).tolist(), yaw_deg=math.degrees(own.yaw_rad)
                )
                break
            except StageError:
                if share == INWARDS[-1]:
                    raise
        moved = (1 - share) * float(np.linalg.norm(spot))
        notes.append(f"{names[index]} stands on {target}: told by a vision-language model"
                     + (f"; moved inwards by {1e3 * moved:.0f} mm to stand" * (moved > 1e-3)))  # fmt: skip
    return notes


def told_report(told: ToldLayout, names: dict[int, str]) -> dict[str, Any]:
    """Return an answer as plain data, for the scene's report."""
    rows = [
        {"object": names[i], "name": told.names[i], "box": list(told.boxes[i]),
         "on": GROUND if below is None else names[below]}
        for i, below in enumerate(told.on)
    ]  # fmt: skip
    return {"model": told.model, "objects": rows}

"""Which pixels of a photo belong to which object: given masks or boxes, alpha, or a user's model."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import ImageConfig
from seed3d.errors import InputError, MissingDependencyError, StageError
from seed3d.image.load import Photo, decode, read_file

Segmenter = Callable[[np.ndarray], Sequence[np.ndarray]]
"""(H, W, 3) uint8 sRGB to one mask (H, W) per object: bool, or numbers above 0 inside."""

SMALLEST = 0.001
"""Parts of the alpha channel below this share of the image are no objects."""
MOST = 40


def object_masks(
    photo: Photo, masks: Sequence[np.ndarray] = (),
    boxes: Sequence[tuple[float, float, float, float]] = (),
    segmenter: Segmenter | None = None, name: str = "photo",
) -> list[np.ndarray]:  # fmt: skip
    """Return one mask (H, W) uint8 per object, 255 inside, left to right.

    Args:
        photo: Decoded.
        masks: Given by the user, the photo's size each.
        boxes: Left, top, right, bottom [pixel]; the object in each is found by the image stage.
        segmenter: A model of the user's.
        name: For messages.

    Raises:
        InputError: A mask or box doesn't fit, or nothing tells the objects apart.
        StageError: No object was found.
    """
    shape = photo.rgb.shape[:2]
    if len(masks):
        found = [_checked(m, shape, f"{name}: mask {i + 1}") for i, m in enumerate(masks)]
    elif len(boxes):
        found = [_in_box(photo, box, f"{name}: box {i + 1}") for i, box in enumerate(boxes)]
    elif segmenter is not None:
        given = segmenter(photo.rgb)
        found = [_checked(np.asarray(m), shape, f"{name}: the segmenter's mask") for m in given]
    elif photo.alpha is not None and _cut_out(photo):
        found = alpha_parts(photo.alpha)
    else:
        raise InputError(
            f"{name}: got a photo without transparency and nothing that tells the objects apart; "
            "wanted --masks, --boxes, a PNG with transparent background, or --segmenter "
            "module:function (a model of yours: RGB array in, list of masks out), or --vlm-layout"
        )
    if not found:
        raise StageError(f"{name}: no object found; wanted at least one. Give --masks or --boxes")
    if len(found) > MOST:
        raise InputError(f"{name}: got {len(found)} objects; wanted at most {MOST}")
    return sorted(found, key=from_left)


def from_left(mask: np.ndarray) -> float:
    """Return where a mask (H, W) uint8 is, from left to right: what objects are sorted by."""
    return float(np.flatnonzero((mask >= 128).any(axis=0)).mean())


def told_apart(
    photo: Photo, masks: Sequence[np.ndarray], boxes: Sequence[Any], segmenter: Segmenter | None
) -> bool:
    """Whether `object_masks` has something to go by."""
    return bool(len(masks) or len(boxes) or segmenter is not None or _cut_out(photo))


def alpha_parts(alpha: np.ndarray) -> list[np.ndarray]:
    """Return the connected parts of an alpha channel (H, W) uint8 as masks."""
    from scipy import ndimage

    labels = np.empty(alpha.shape, np.int32)
    count = int(ndimage.label(alpha >= 128, np.ones((3, 3)), labels))  # pyright: ignore
    areas = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    least = max(SMALLEST * alpha.size, 0.02 * float(areas.max(initial=0)))
    kept = np.flatnonzero(areas >= least) + 1
    out = []
    for label in kept:
        near = np.asarray(ndimage.binary_dilation(labels == label, iterations=2))
        own = near & ((labels == 0) | (labels == label))
        out.append(np.where(own, alpha, 0).astype(np.uint8))
    return out


def load_masks(paths: Sequence[Path], shape: tuple[int, int]) -> list[np.ndarray]:
    """Read mask images: one per object, or one image of labels (0 is background).

    Raises:
        InputError: A file is no image or has another size.
    """
    arrays = []
    for path in paths:
        photo = decode(read_file(path), path.name, ImageConfig())
        grey = photo.rgb[..., 0] if photo.alpha is None else photo.alpha
        if grey.shape != shape:
            raise InputError(f"{path}: got a mask of {grey.shape}; wanted {shape} as the photo")
        arrays.append(grey)
    if len(arrays) == 1:
        values = [v for v in np.unique(arrays[0]) if v > 0]
        if 1 < len(values) <= MOST and 255 not in values:
            return [np.where(arrays[0] == v, 255, 0).astype(np.uint8) for v in values]
        return alpha_parts(arrays[0])
    return [np.where(a >= 128, 255, 0).astype(np.uint8) for a in arrays]


def load_segmenter(text: str) -> Segmenter:
    """Return the function that "module:function" names.

    Raises:
        MissingDependencyError: There is no such module or function.
    """
    module, colon, function = text.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), function) if colon else None
    except (ImportError, AttributeError) as error:
        raise MissingDependencyError(
            f"--segmenter {text}: {error}; wanted an installed module:function that takes an RGB "
            "array (H, W, 3) and returns a list of masks (H, W)"
        ) from error
    if callable(found):
        segmenter: Any = found
        return segmenter
    raise MissingDependencyError(f"--segmenter {text}: got no function; wanted module:function")


def _cut_out(photo: Photo) -> bool:
    return photo.alpha is not None and float((photo.alpha < 128).mean()) > 0.01


def _checked(mask: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    if mask.shape != shape:
        raise InputError(f"{name}: got shape {mask.shape}; wanted {shape} (rows, columns)")
    top = 255 if mask.dtype == np.uint8 else 1
    inside = mask > 0 if mask.dtype == bool else mask >= top / 2
    if not inside.any():
        raise InputError(f"{name}: got an empty mask; wanted an object in it")
    return np.where(inside, 255, 0).astype(np.uint8)


def _in_box(photo: Photo, box: tuple[float, float, float, float], name: str) -> np.ndarray:
    from seed3d.image.mask import find_mask

    height, width = photo.rgb.shape[:2]
    left, top, right, bottom = (round(v) for v in box)
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise InputError(
            f"{name}: got {box}; wanted left, top, right, bottom inside {width} x {height} pixels"
        )
    pad = round(0.12 * max(right - left, bottom - top))
    rows = slice(max(top - pad, 0), min(bottom + pad, height))
    columns = slice(max(left - pad, 0), min(right + pad, width))
    alpha = None if photo.alpha is None else photo.alpha[rows, columns]
    part = replace(photo, rgb=photo.rgb[rows, columns], alpha=alpha, fallbacks=())
    found = find_mask(part, ImageConfig(), None, name).mask
    mask = np.zeros((height, width), np.uint8)
    mask[rows, columns] = found
    outside = np.ones_like(mask, bool)
    outside[top:bottom, left:right] = False
    mask[outside] = 0
    if int(mask.max()) < 128:
        raise StageError(f"{name}: no object found in it. Draw it tighter, or give --masks")
    return mask

"""Photo file to `Subject`: one object, cropped square, on white. Entry point of the image stage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from seed3d.config import ImageConfig
from seed3d.errors import ConfigError, StageError
from seed3d.image.load import Photo, decode, read_file
from seed3d.image.mask import Found, cut_edges, find_mask
from seed3d.types import Fallback, Subject

SOLID = 0.95
"""Coverage from which a pixel's colour is the object's alone."""
NOTHING = 0.02
"""Coverage below which a pixel shows no object."""
SMALL_OBJECT = 0.25
"""Object size over crop size, both in pixels, below which the loss of detail is reported."""


def prepare(
    source: bytes | str | Path,
    config: ImageConfig | None = None,
    *,
    name: str | None = None,
    mask: np.ndarray | None = None,
) -> Subject:
    """Decode a photo, find its object, crop it square and put it on white.

    Args:
        source: Path of an image file, or its bytes.
        config: Options of the image stage.
        name: Name for messages; default: the file's name.
        mask: (H, W) bool, uint8 or float mask of the upright photo, instead of finding one.

    Returns:
        The subject. Colours of half-covered pixels are taken from the object's inside, so neither
        the old background nor the hidden colours of transparent pixels reach the result.

    Raises:
        InputError: The file is no usable image, or the mask doesn't fit it.
        StageError: No object was found.
        ConfigError: An option is out of range.
    """
    config = config or ImageConfig()
    _check(config)
    data = source if isinstance(source, bytes) else read_file(Path(source))
    name = name or ("image" if isinstance(source, bytes) else Path(source).name)
    photo = decode(data, name, config)
    found = find_mask(photo, config, mask, name)
    box = square_box(found.mask, config.padding, name)
    rgb, coverage = _crop(photo, found.mask, box, config.size)
    notes = (*photo.fallbacks, *found.fallbacks, *_notes(found, box, config, name))
    composite = composite_on_white(rgb, coverage, config.size / box[2])
    return Subject(composite, coverage, found.source, notes)


def square_box(mask: np.ndarray, padding: float, name: str = "image") -> tuple[int, int, int]:
    """Return (left, top, side) [pixel] of the square around a mask; it may leave the image.

    Args:
        mask: (H, W) uint8.
        padding: Margin on each side of the object's longer extent, as a share of the square's side.
        name: Name for messages.

    Raises:
        StageError: The mask is empty.
    """
    # Half covered, but for objects that never are (glass, hair) whatever there is.
    inside = mask >= 128 if int(mask.max()) >= 128 else mask > 0
    columns, rows = np.flatnonzero(inside.any(axis=0)), np.flatnonzero(inside.any(axis=1))
    if len(columns) == 0:
        raise StageError(f"{name}: no object found: its mask is empty. Use another photo or mask")
    left, right = int(columns[0]), int(columns[-1]) + 1
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    side = int(np.ceil(max(right - left, bottom - top) / (1.0 - 2.0 * padding)))
    return (left + right - side) // 2, (top + bottom - side) // 2, side


def composite_on_white(rgb: np.ndarray, coverage: np.ndarray, enlarged: float = 1.0) -> np.ndarray:
    """Put an object on white without the colours of its old background.

    A pixel at the object's edge mixes object and background (or black, where a file stores
    premultiplied colours). Its colour is replaced by that of the nearest pixel inside.

    Args:
        rgb: (S, S, 3) float sRGB in [0, 1].
        coverage: (S, S) float in [0, 1].
        enlarged: Pixels here per pixel of the photo; edges are wider where it's above 1.

    Returns:
        (S, S, 3) float32 sRGB in [0, 1].
    """
    pixel = max(enlarged, 1.0)
    band = (2.0 + len(rgb) / 128.0) * pixel  # as wide as the network's soft edges get
    # Not the outermost solid pixel: the resampling filter reaches over the edge.
    solid = _depth(coverage >= SOLID)[0] > 1.5 * pixel
    # Soft pixels deep inside are glass, not edge: they keep their colour.
    trusted = solid | (_depth(coverage > NOTHING)[0] > band)
    if trusted.any():
        distance, (rows, columns) = _depth(~trusted)
        near = (distance > 0) & (distance <= 4.0 * band)
        rgb = np.where(near[..., None], rgb[rows, columns], rgb)
    weight = coverage[..., None]
    return np.clip(rgb * weight + (1.0 - weight), 0.0, 1.0).astype(np.float32)


def _depth(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each pixel's distance (S, S) to the nearest outside pixel, and its index (2, S, S)."""
    from scipy import ndimage

    distance = np.empty(inside.shape, np.float64)
    index = np.empty((2, *inside.shape), np.int32)
    ndimage.distance_transform_edt(inside, return_indices=True, distances=distance, indices=index)
    return distance, index


def _crop(
    photo: Photo, mask: np.ndarray, box: tuple[int, int, int], size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return colour (S, S, 3) and coverage (S, S), float32 in [0, 1], of a square of the photo."""
    left, top, side = box
    frame = (left, top, left + side, top + side)
    opaque = photo.alpha if photo.alpha is not None else np.full(mask.shape, 255, np.uint8)
    image = Image.fromarray(np.dstack([photo.rgb, opaque])).crop(frame)  # outside: transparent
    # Pillow filters RGBA premultiplied, so transparent pixels lend no colour to their neighbours.
    image = image.resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0)
    cover = Image.fromarray(mask).crop(frame)
    cover = cover.resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0)
    rgb = np.asarray(image.convert("RGB"), np.float32) / 255.0
    coverage = np.asarray(cover, np.float32) / 255.0
    coverage = np.where(coverage <= NOTHING, 0.0, coverage)  # ringing and haze
    return rgb, coverage.astype(np.float32)


def _notes(
    found: Found, box: tuple[int, int, int], config: ImageConfig, name: str
) -> list[Fallback]:
    notes = []
    edges = cut_edges(found.mask)
    # A trimmed cut-out touches all four edges without being cut.
    if edges and not (found.source in ("alpha", "user") and len(edges) == 4):
        what = (
            f"the object in {name} runs out of the photo ({', '.join(edges)}); what lies outside"
            " is guessed"
        )
        notes.append(Fallback("image", what))
    if box[2] < SMALL_OBJECT * config.size:
        inner = round(box[2] * (1.0 - 2.0 * config.padding))
        what = (
            f"the object in {name} is only {inner} pixels across; a larger photo gives more detail"
        )
        notes.append(Fallback("image", what))
    return notes


def _check(config: ImageConfig) -> None:
    if not 0.0 <= config.padding <= 0.4:
        raise ConfigError(f"image.padding: got {config.padding}; wanted 0 to 0.4")
    if not 64 <= config.size <= 4096:
        raise ConfigError(f"image.size: got {config.size}; wanted 64 to 4096 pixels")

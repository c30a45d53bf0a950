"""Which part of a photo is the object: alpha, a given mask, the network, or the border colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL import Image

from seed3d.config import ImageConfig
from seed3d.errors import InputError, StageError
from seed3d.image.load import Photo
from seed3d.types import Fallback

OPAQUE = 128
"""Mask value from which a pixel counts as object."""
FAINT = 26
"""The same for alpha, 10 %: glass belongs to the object."""
WORK_SIDE = 1024
"""Masks are cleaned at this size at most [pixel]; more has no use for a crop of 512."""
ALPHA_SHARE = 0.01
"""An alpha channel means something when at least this share of the image is transparent."""
AREA_LIMITS = (0.0005, 0.97)
"""Object area over image area outside which a segmentation is not believed."""
MODEL_KEEP, ALPHA_KEEP = 0.05, 0.002
"""Separate parts below this share of the largest part's area are dropped."""
HOLE_SHARE = 0.005
"""Holes of a network's mask below this share of the object's area are filled."""
UNDECIDED, UNSURE = 0.15, 0.25
"""Undecided area (probability 0.2 to 0.8) over object area: from the first on the border rule is
tried, from the second on the doubt is reported."""
BORDER_DISTANCE = 10.0
"""CIELAB distance from the border's colour from which a pixel is not background."""
BORDER_UNIFORM, BORDER_STUDIO = 0.85, 0.97
"""Share of border pixels that must have the border's median colour: where the network found
nothing, and where it's only undecided."""

# Smoothstep from 0.1 to 0.9: the network's edges are wider than those of a photo. Measured with
# object_mask: 15 % less error in coverage.
_RAMP = np.clip((np.arange(256) / 255.0 - 0.1) / 0.8, 0.0, 1.0)
_SHARPEN = np.rint(255.0 * _RAMP * _RAMP * (3.0 - 2.0 * _RAMP)).astype(np.uint8)


@dataclass(frozen=True)
class Found:
    """The object's coverage of each photo pixel."""

    mask: np.ndarray
    """(H, W) uint8, 255 is object."""
    source: Literal["alpha", "model", "border", "user"]
    fallbacks: tuple[Fallback, ...] = ()


def find_mask(
    photo: Photo, config: ImageConfig, user: np.ndarray | None = None, name: str = "image"
) -> Found:
    """Find the object.

    Args:
        photo: Decoded photo.
        config: Option `mask` chooses between alpha and the network.
        user: (H, W) bool, uint8 or float mask of the upright photo; wins over everything.
        name: Name for messages.

    Raises:
        InputError: The given mask doesn't fit, or alpha was asked for and there is none.
        StageError: No object was found.
    """
    alpha = photo.alpha
    if alpha is not None and int(alpha.max()) < OPAQUE:
        raise StageError(
            f"{name}: no object found: the whole image is transparent (largest opacity"
            f" {alpha.max() / 255:.0%}); wanted an opaque object. Check how it was exported"
        )
    if user is not None:
        return Found(_under_alpha(_user_mask(user, photo.rgb.shape[:2], name), alpha), "user")
    meaningful = alpha is not None and bool((alpha < OPAQUE).mean() >= ALPHA_SHARE)
    if config.mask == "alpha" and not meaningful:
        share = 0.0 if alpha is None else float((alpha < OPAQUE).mean())
        raise InputError(
            f"{name}: mask 'alpha' was asked for, but {share:.1%} of the image is transparent;"
            f" wanted at least {ALPHA_SHARE:.0%}. Use image.mask auto or model"
        )
    if meaningful and config.mask != "model" and alpha is not None:
        return Found(clean(alpha, FAINT, ALPHA_KEEP, 0.0), "alpha")
    rgb = photo.rgb if alpha is None else on_white(photo.rgb, alpha)
    return _segment(rgb, alpha, name)


def _segment(rgb: np.ndarray, alpha: np.ndarray | None, name: str) -> Found:
    from seed3d.image.u2net import object_mask

    raw = clean(object_mask(rgb), OPAQUE, MODEL_KEEP, HOLE_SHARE)
    mask = _under_alpha(_SHARPEN[raw], alpha)
    area = float((mask >= OPAQUE).mean())
    believed = AREA_LIMITS[0] <= area <= AREA_LIMITS[1]
    undecided = float(((raw > 51) & (raw < 204)).sum() / max(int((raw >= OPAQUE).sum()), 1))
    if believed and undecided < UNDECIDED:
        return Found(mask, "model")
    failed = f"the segmentation model marked {area:.1%} of the image"
    if believed:
        failed = f"the segmentation model is undecided about {undecided:.0%} of the object"
    border, reason = border_mask(rgb, BORDER_STUDIO if believed else BORDER_UNIFORM)
    if border is not None:
        what = f"{name}: {failed}; the object was separated by the uniform colour of the border"
        return Found(_under_alpha(border, alpha), "border", (Fallback("image", what),))
    if believed:
        what = f"{name}: {failed}; a PNG with transparent background would be safer"
        return Found(mask, "model", (Fallback("image", what),) if undecided >= UNSURE else ())
    raise StageError(
        f"{name}: no object found: {failed}, and {reason}; wanted one object that stands out from"
        " the background. Use another photo, a PNG with transparent background, or pass a mask"
    )


def border_mask(rgb: np.ndarray, uniform: float = BORDER_UNIFORM) -> tuple[np.ndarray | None, str]:
    """Separate the object from a background of one colour.

    Background is what has the border's median colour and is connected to the border.

    Args:
        rgb: (H, W, 3) uint8 sRGB.
        uniform: Share of border pixels that must be alike.

    Returns:
        The mask (H, W) uint8, or None and the reason why the rule doesn't apply.
    """
    from skimage.color import rgb2lab

    height, width = rgb.shape[:2]
    image = Image.fromarray(rgb)
    image.thumbnail((WORK_SIDE // 2, WORK_SIDE // 2), Image.Resampling.BOX)
    lab = rgb2lab(np.asarray(image))
    ring = np.ones(lab.shape[:2], bool)
    edge = max(2, min(ring.shape) // 40)
    ring[edge:-edge, edge:-edge] = False
    distance = np.linalg.norm(lab - np.median(lab[ring], axis=0), axis=-1)
    alike = float((distance[ring] < BORDER_DISTANCE).mean())
    if alike < uniform:
        return None, f"the border has no uniform colour ({alike:.0%} alike)"
    labels = _label(distance < BORDER_DISTANCE)
    outside = np.isin(labels, np.setdiff1d(np.unique(labels[ring]), [0]))
    inside = Image.fromarray((~outside).astype(np.uint8) * 255)
    mask = np.asarray(inside.resize((width, height), Image.Resampling.BICUBIC))
    mask = clean(mask, OPAQUE, MODEL_KEEP, 0.0)
    area = float((mask >= OPAQUE).mean())
    if not AREA_LIMITS[0] <= area <= AREA_LIMITS[1]:
        return None, f"{area:.1%} of the image differ from the border's colour"
    return mask, ""


def clean(mask: np.ndarray, level: int, keep: float, holes: float) -> np.ndarray:
    """Drop small separate parts of a mask and fill small holes; soft edges stay.

    Args:
        mask: (H, W) uint8.
        level: Value from which a pixel counts as object.
        keep: Parts smaller than this share of the largest part's area are dropped.
        holes: Holes smaller than this share of the object's area are filled.

    Returns:
        (H, W) uint8; all 0 where no pixel reaches `level`.
    """
    from scipy import ndimage

    small = _reduced(mask)
    labels = _label(small >= level, diagonal=True)
    if not labels.any():
        return np.zeros_like(mask)
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    kept = (areas >= keep * areas.max())[labels] & (labels > 0)
    # Soft edges and what's between close parts belong to the object too.
    support = ndimage.binary_dilation(kept, iterations=4) & ~((labels > 0) & ~kept)
    result = np.where(_enlarged(support, mask.shape), mask, 0).astype(np.uint8)
    if holes > 0:
        gaps = _label(~kept)
        sizes = np.bincount(gaps.ravel())
        fill = (sizes < holes * kept.sum())[gaps] & (gaps > 0)
        filled = np.asarray(ndimage.binary_fill_holes(kept))
        fill = ndimage.binary_dilation(fill, iterations=2) & filled
        result = np.where(_enlarged(fill, mask.shape), 255, result).astype(np.uint8)
    return result


def cut_edges(mask: np.ndarray) -> tuple[str, ...]:
    """Return the image edges ("left", "right", "top", "bottom") that the object runs into.

    Args:
        mask: (H, W) uint8.
    """
    inside = _reduced(mask) >= OPAQUE
    lines = {
        "left": inside[:, 0],
        "right": inside[:, -1],
        "top": inside[0],
        "bottom": inside[-1],
    }
    extent = max(int(inside.any(axis=0).sum()), int(inside.any(axis=1).sum()))
    return tuple(edge for edge, line in lines.items() if line.sum() >= max(2, 0.03 * extent))


def on_white(rgb: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Composite (H, W, 3) uint8 on white with alpha (H, W) uint8; hidden colours vanish."""
    image = Image.new("RGB", (rgb.shape[1], rgb.shape[0]), "white")
    image.paste(Image.fromarray(rgb), mask=Image.fromarray(alpha))
    return np.asarray(image)


def _user_mask(user: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    if user.shape != shape:
        raise InputError(
            f"{name}: got a mask of shape {user.shape}; wanted {shape} (rows, columns), as the"
            " upright photo. Resize it"
        )
    if user.dtype.kind not in "buif":
        raise InputError(f"{name}: got a mask of {user.dtype}; wanted bool, uint8 or float 0..1")
    top = 255.0 if user.dtype.kind in "ui" else 1.0
    value = user.astype(np.float32) * (255.0 / top)
    if not np.isfinite(value).all() or value.min() < 0 or value.max() > 255:
        raise InputError(f"{name}: got mask values outside 0..{top:g}; wanted them inside")
    mask = np.rint(value).astype(np.uint8)
    if int(mask.max()) < OPAQUE:
        raise StageError(f"{name}: no object found: the given mask is empty. Mark the object in it")
    return mask


def _under_alpha(mask: np.ndarray, alpha: np.ndarray | None) -> np.ndarray:
    return mask if alpha is None else np.minimum(mask, alpha)


def _label(inside: np.ndarray, diagonal: bool = False) -> np.ndarray:
    """Number the connected parts of (H, W) bool from 1; 0 is outside."""
    from scipy import ndimage

    labels = np.empty(inside.shape, np.int32)
    ndimage.label(inside, np.ones((3, 3)) if diagonal else None, labels)
    return labels


def _reduced(mask: np.ndarray) -> np.ndarray:
    image = Image.fromarray(mask)
    image.thumbnail((WORK_SIDE, WORK_SIDE), Image.Resampling.BOX)
    return np.asarray(image)


def _enlarged(support: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    image = Image.fromarray(support.astype(np.uint8) * 255)
    return np.asarray(image.resize((shape[1], shape[0]), Image.Resampling.NEAREST)) > 0

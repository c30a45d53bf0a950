"""The object's mask as the page shows and edits it."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

import numpy as np

from seed3d.config import ImageConfig
from seed3d.errors import InputError

SHOWN = 640
"""Longest side of the picture in the editor [pixel]."""
MOST_POINTS = 50_000
"""Points of all strokes together."""


def mask_view(data: bytes, name: str, config: ImageConfig) -> dict[str, Any]:
    """Find the object in a photo and return what the editor shows.

    Args:
        data: Bytes of an image file.
        name: For messages.
        config: Limits and the choice between alpha and the network.

    Returns:
        image, mask: data URLs of at most `SHOWN` pixels a side; mask as alpha of a PNG;
        source: alpha, model, border; share: of the photo [0, 1]; notes: words.

    Raises:
        InputError: Not a usable image.
        StageError: No object found.
    """
    from PIL import Image

    from seed3d.image.load import decode
    from seed3d.image.mask import find_mask, on_white

    photo = decode(data, name, config)
    found = find_mask(photo, config, None, name)
    rgb = photo.rgb if photo.alpha is None else on_white(photo.rgb, photo.alpha)
    picture, cover = Image.fromarray(rgb), Image.fromarray(found.mask)
    picture.thumbnail((SHOWN, SHOWN), reducing_gap=3.0)
    cover = cover.resize(picture.size, Image.Resampling.BOX)
    alpha = Image.new("LA", picture.size, 255)
    alpha.putalpha(cover)
    return {
        "image": _url(picture, "JPEG", quality=88),
        "mask": _url(alpha, "PNG"),
        "source": found.source,
        "share": float((found.mask >= 128).mean()),
        "notes": [f.what for f in (*photo.fallbacks, *found.fallbacks)],
    }


def edited_mask(
    data: bytes, name: str, config: ImageConfig, strokes: list[dict[str, Any]]
) -> np.ndarray | None:
    """Return the found mask (H, W) uint8 with the user's strokes on it, or None without strokes.

    Args:
        data: Bytes of an image file.
        name: For messages.
        config: As for `mask_view`.
        strokes: Oldest first. Each {"keep": bool, "width": w, "points": [[x, y], ...]}, with x
            and width in shares of the photo's width and y in shares of its height; a stroke
            {"clear": true} forgets the found mask.

    Raises:
        InputError: The strokes are not of that form.
    """
    if not strokes:
        return None
    from PIL import Image, ImageDraw

    from seed3d.image.load import decode
    from seed3d.image.mask import find_mask

    photo = decode(data, name, config)
    height, width = photo.rgb.shape[:2]
    if any(stroke.get("clear") for stroke in strokes if isinstance(stroke, dict)):
        mask = Image.new("L", (width, height), 0)
    else:
        mask = Image.fromarray(find_mask(photo, config, None, name).mask)
    draw = ImageDraw.Draw(mask)
    for keep, size, points in _parsed(strokes):
        where = [(x * width, y * height) for x, y in points]
        radius = max(size * width / 2.0, 0.5)
        fill = 255 if keep else 0
        draw.line(where, fill=fill, width=max(1, round(2 * radius)))
        for x, y in where:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)
    return np.asarray(mask)


def _parsed(strokes: list[dict[str, Any]]) -> list[tuple[bool, float, list[tuple[float, float]]]]:
    found, total = [], 0
    for stroke in strokes:
        try:
            if stroke.get("clear"):
                continue
            points = [(float(x), float(y)) for x, y in stroke["points"]]
            keep, width = bool(stroke["keep"]), float(stroke["width"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"mask strokes: got {str(stroke)[:80]!r}; wanted "
                '{"keep": true, "width": 0.05, "points": [[0.5, 0.5], ...]}'
            ) from error
        total += len(points)
        numbers = [width, *(v for point in points for v in point)]
        if total > MOST_POINTS or not all(math.isfinite(v) and -2 <= v <= 3 for v in numbers):
            raise InputError(
                f"mask strokes: wanted at most {MOST_POINTS} points, all in shares of the photo"
            )
        found.append((keep, min(max(width, 0.0), 1.0), points))
    return found


def _url(image: Any, kind: str, **options: Any) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"

"""Pack charts into the unit square: boxes on shelves, the largest scale that fits."""

from __future__ import annotations

import numpy as np

from seed3d.errors import StageError


def pack_boxes(uv: np.ndarray, chart: np.ndarray, size: int, padding: int) -> np.ndarray:
    """Place charts side by side at one common scale.

    Args:
        uv: (F, 3, 2) corners, any unit; charts may lie on top of each other.
        chart: (F,) int from 0.
        size: Side of the texture [texel].
        padding: Least gap between two charts, and to the border [texel].

    Returns:
        (F, 3, 2) in [0, 1].

    Raises:
        StageError: More charts than fit with a gap of one texel.
    """
    low, extent = _boxes(uv, chart)
    turned = extent[:, 1] > extent[:, 0]  # wide boxes fill shelves better
    extent = np.where(turned[:, None], extent[:, ::-1], extent)
    for gap in range(padding, 0, -1):
        found = _largest_scale(extent, size, gap)
        if found is not None:
            break
    else:
        raise StageError(
            f"texture: got {len(extent)} charts, which do not fit {size} x {size} texels; "
            "set a larger texture.size or fewer mesh.target_faces"
        )
    scale, place = found
    local = (uv - low[chart][:, None]) * scale
    local = np.where(turned[chart][:, None, None], _turn(local, chart), local)
    return (local + gap + place[chart][:, None]) / size


def _boxes(uv: np.ndarray, chart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = int(chart.max()) + 1
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    np.minimum.at(low, np.repeat(chart, 3), uv.reshape(-1, 2))
    np.maximum.at(high, np.repeat(chart, 3), uv.reshape(-1, 2))
    return low, high - low


def _turn(local: np.ndarray, chart: np.ndarray) -> np.ndarray:
    """Turn charts by a quarter: (u, v) -> (height - v, u), so that they stay in their box."""
    top = np.full(int(chart.max()) + 1, -np.inf)
    np.maximum.at(top, np.repeat(chart, 3), local.reshape(-1, 2)[:, 1])
    return np.stack([top[chart][:, None] - local[..., 1], local[..., 0]], axis=-1)


def _largest_scale(extent: np.ndarray, size: int, gap: int) -> tuple[float, np.ndarray] | None:
    """Bisect the scale; returns it with the boxes' corners, or None where nothing fits."""
    room = size - gap
    best: tuple[float, np.ndarray] | None = None
    fits, fails = 0.0, size / max(float(extent.max()), 1e-12)
    for _ in range(24):
        scale = (fits + fails) / 2.0
        place = _shelves(np.ceil(extent * scale).astype(np.int64) + gap, room)
        if place is None:
            fails = scale
        else:
            fits, best = scale, (scale, place)
    return best


def _shelves(boxes: np.ndarray, room: int) -> np.ndarray | None:
    """Fill rows from the tallest box down; return lower corners (C, 2), or None if too much."""
    order = np.lexsort((-boxes[:, 0], -boxes[:, 1]))
    place = np.zeros_like(boxes)
    x = y = height = 0
    for index in order.tolist():
        width, tall = int(boxes[index, 0]), int(boxes[index, 1])
        if x + width > room:
            x, y, height = 0, y + height, 0
        height = max(height, tall)
        if y + height > room or width > room:
            return None
        place[index] = (x, y)
        x += width
    return place

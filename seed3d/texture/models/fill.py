"""Texels that the photo doesn't show, filled by the learned completion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from seed3d.conventions import linear_to_srgb, pixel_centers, srgb_to_linear
from seed3d.render.raycast import pixel_rays
from seed3d.texture.photo import PhotoView
from seed3d.texture.texels import Texels

if TYPE_CHECKING:
    from seed3d.texture.models.completion import CompletionNet, Samples

SEEN = 4000
"""Points of the photo that the network chooses from, as in training."""
FEWEST = 50
"""Fewer points than this tell nothing."""
Look = Callable[[np.ndarray, np.ndarray, bool], tuple[np.ndarray, np.ndarray]]
"""Points (N, 3), normals (N, 3), whether mirrored, to values (N, C), linear, and trust (N,)."""
Carry = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Values (n, C) of the coarse texels to values (M, C) of the fine ones with indices (M,)."""


def seen_samples(view: PhotoView, look: Look) -> Samples | None:
    """Points of the mesh that the photo shows clearly, with their values, colours as sRGB.

    Returns:
        At most SEEN points, evenly over the photo; None where it shows fewer than FEWEST.
    """
    from seed3d.texture.models.completion import Samples

    size = len(view.depth)
    row, column = np.nonzero((view.clear > 0.5) & np.isfinite(view.depth))
    if len(row) < FEWEST:
        return None
    step = np.linspace(0, len(row) - 1, min(4 * SEEN, len(row))).astype(int)
    row, column = row[step], column[step]
    center = pixel_centers(size)
    rays = pixel_rays(view.camera, center[column], center[row])
    position = view.camera.position.astype(np.float32) + rays * view.depth[row, column, None]
    normal = view.normal[row, column]
    value, trust = look(position, normal, False)
    good = np.flatnonzero(trust > 0.3)
    if len(good) < FEWEST:
        return None
    good = good[np.linspace(0, len(good) - 1, min(SEEN, len(good))).astype(int)]
    return Samples(position[good], normal[good], to_srgb(value[good]))


def fill_unseen(
    net: CompletionNet,
    look: Look,
    seen: Samples,
    coarse: Texels,
    texels: Texels,
    carry: Carry,
) -> tuple[np.ndarray, np.ndarray]:
    """Paint the photo where it sees, and what the network makes of it elsewhere.

    The network decides on the coarse texels how much to trust what is near and each mirror image;
    where the photo shows the mirrored place itself, its pixels stand in for the coarse mixture.

    Args:
        net: The completion network.
        look: The photo's look-up.
        seen: From `seen_samples`.
        coarse: Texels on which the network runs.
        texels: Texels to paint.
        carry: From coarse to fine.

    Returns:
        Values (N, C) linear and the direct photo's trust (N,).
    """
    from seed3d.texture.models.completion import FRAMES, mix_by_frame

    count = len(FRAMES)
    mixture = mix_by_frame(net, coarse.position, coarse.normal, seen)  # (n, 4, C + 1)
    out, trust = look(texels.position, texels.normal, False)
    open_ = np.flatnonzero(trust < 0.99)
    fine = carry(mixture.reshape(len(mixture), -1), open_).reshape(len(open_), count, -1)
    total = fine[..., :-1].sum(axis=1)
    for frame in range(1, count):
        used = np.flatnonzero(fine[:, frame, -1] > 0.02)
        flip, which = FRAMES[frame], open_[used]
        sharp, known = look(texels.position[which] * flip, texels.normal[which] * flip, True)
        change = fine[used, frame, -1:] * to_srgb(sharp) - fine[used, frame, :-1]
        total[used] += known[:, None] * change
    filled = to_linear(total / np.maximum(fine[..., -1].sum(axis=1), 1e-6)[:, None])
    share = trust[open_, None]
    out[open_] = out[open_] * share + filled * (1.0 - share)
    return out, trust


def to_srgb(values: np.ndarray) -> np.ndarray:
    """First three channels from linear to sRGB."""
    color = linear_to_srgb(values[:, :3])
    return np.concatenate([color, values[:, 3:]], axis=1).astype(np.float32)


def to_linear(values: np.ndarray) -> np.ndarray:
    """First three channels from sRGB to linear."""
    color = srgb_to_linear(np.clip(values[:, :3], 0.0, 1.0))
    return np.concatenate([color, values[:, 3:]], axis=1).astype(np.float32)

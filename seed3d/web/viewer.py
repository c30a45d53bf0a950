"""What the page's interactive view draws: the textured mesh and the hulls, packed for WebGL."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from seed3d.types import Asset

MODES = ("Textured", "Plain", "Hulls", "Wireframe")
"""What the view offers (static/viewer.html)."""


def view_data(asset: Asset) -> dict[str, Any]:
    """Return plain data for static/viewer.js, Z up.

    Returns:
        texture: data URL of the base colour; mesh and hulls, each with count (vertices, three a
        triangle) and base64 arrays: position uint16 (N, 4) over the box low..high [m], normal
        int8 (N, 4), and uv float32 (N, 2), v up, or colour uint8 (N, 4).
    """
    from PIL import Image

    from seed3d.render.normals import corner_normals
    from seed3d.render.raycast import face_normals
    from seed3d.texture.preview import hull_color

    low, high = asset.mesh.bounds
    for hull in asset.collision.hulls:
        low, high = np.minimum(low, hull.bounds[0]), np.maximum(high, hull.bounds[1])
    buffer = io.BytesIO()
    Image.fromarray(asset.maps.base_color).save(buffer, "JPEG", quality=90)
    mesh = asset.mesh
    corners = mesh.vertices[mesh.faces].reshape(-1, 3)
    hulls = asset.collision.hulls
    colours = [np.tile([*hull_color(i), 1.0], (3 * len(h.faces), 1)) for i, h in enumerate(hulls)]
    return {
        "low": low.tolist(),
        "high": high.tolist(),
        "texture": f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}",
        "mesh": {
            **_packed(corners, corner_normals(mesh).reshape(-1, 3), low, high),
            "uv": _text(asset.atlas.uv[asset.atlas.faces].reshape(-1, 2), "<f4"),
        },
        "hulls": {
            **_packed(
                np.concatenate([h.vertices[h.faces].reshape(-1, 3) for h in hulls]),
                np.concatenate([np.repeat(face_normals(h), 3, axis=0) for h in hulls]),
                low,
                high,
            ),
            "color": _text(np.rint(255 * np.concatenate(colours)), "u1"),
        },
    }


def _packed(points: np.ndarray, normals: np.ndarray, low: np.ndarray, high: np.ndarray) -> Any:
    share = (points - low) / np.maximum(high - low, 1e-12)
    four = np.zeros((len(points), 1))
    return {
        "count": len(points),
        "position": _text(np.hstack([np.rint(65535 * share), four]), "<u2"),
        "normal": _text(np.hstack([np.rint(127 * normals), four]), "i1"),
    }


def _text(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values.astype(kind)).tobytes()).decode()

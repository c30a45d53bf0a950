"""Pictures that stand beside an asset: preview.png and an animated turntable.webp."""

from __future__ import annotations

import io

from seed3d.config import ExportConfig
from seed3d.types import Asset, Pictures

TURN_MS = 2400
"""Duration of the turntable's turn."""


def preview_files(asset: Asset, config: ExportConfig) -> dict[str, bytes]:
    """Return preview.png, and turntable.webp where frames are asked for; same asset, same bytes.

    Args:
        asset: Finished.
        config: preview_size [pixel] of a panel; turntable_frames of half that size.
    """
    from PIL import Image

    from seed3d.export.encode import png
    from seed3d.texture.preview import draw, preview

    shown = to_draw(config)
    begun = asset.pictures
    if begun is not None and (begun.size, begun.turn) == (shown.size, shown.turn):
        shown = begun
    shown = draw(shown, asset.mesh, asset.atlas, asset.maps, asset.camera, asset.subject)
    files = {"preview.png": png(preview(shown, asset.mesh, asset.collision.hulls))}
    if shown.frames:
        first, *rest = [Image.fromarray(frame) for frame in shown.frames]
        buffer = io.BytesIO()
        first.save(
            buffer, "WEBP", save_all=True, append_images=rest, loop=0, quality=80, method=2,
            duration=TURN_MS // len(shown.frames),
        )  # fmt: skip
        files["turntable.webp"] = buffer.getvalue()
    return files


def to_draw(config: ExportConfig) -> Pictures:
    """Return the pictures that are asked for, none of them drawn."""
    return Pictures(config.preview_size, config.turntable_frames)

"""Pictures that stand beside an asset: preview.png and an animated turntable.webp."""

from __future__ import annotations

import io

from seed3d.config import ExportConfig
from seed3d.types import Asset


def preview_files(asset: Asset, config: ExportConfig) -> dict[str, bytes]:
    """Return preview.png, and turntable.webp where frames are asked for; same asset, same bytes.

    Args:
        asset: Finished.
        config: preview_size [pixel] of a panel; turntable_frames of half that size.
    """
    from PIL import Image

    from seed3d.export.encode import png
    from seed3d.texture.preview import preview, turntable

    files = {"preview.png": png(preview(asset, config.preview_size))}
    if config.turntable_frames:
        frames = turntable(asset, config.turntable_frames, max(config.preview_size // 2, 64))
        first, *rest = [Image.fromarray(frame) for frame in frames]
        buffer = io.BytesIO()
        first.save(
            buffer, "WEBP", save_all=True, append_images=rest, duration=100, loop=0, quality=80
        )
        files["turntable.webp"] = buffer.getvalue()
    return files

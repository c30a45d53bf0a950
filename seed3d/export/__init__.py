"""Asset to files. Every writer is pure: an asset in, relative path to bytes out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from seed3d.config import ExportConfig
from seed3d.errors import ExportError, near_miss
from seed3d.export.check import check_asset
from seed3d.export.glb import glb_files
from seed3d.export.load import load
from seed3d.export.mjcf import mjcf_files, mjcf_sdf_files
from seed3d.export.obj import obj_files, texture_files
from seed3d.export.urdf import urdf_files
from seed3d.export.usd import usd_files
from seed3d.export.write import write_files
from seed3d.report import REPORT, TIMINGS, report_json, timings_json
from seed3d.types import Asset, Verdict

__all__ = ["WRITERS", "asset_files", "load", "with_report", "write_files"]

WRITERS: dict[str, Callable[[Asset], dict[str, bytes]]] = {
    "urdf": urdf_files,
    "mjcf": mjcf_files,
    "usd": usd_files,
    "glb": glb_files,
    "mjcf_sdf": mjcf_sdf_files,
}
"""Format to its own file; URDF and MJCF also need the shared meshes and textures."""
USUAL = ExportConfig().formats
"""Formats that are written where none are named."""


def asset_files(
    asset: Asset,
    formats: Sequence[str] = USUAL,
    verdict: Verdict | None = None,
    extras: Mapping[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Return every file of an asset, shared ones once, with report.json last.

    Args:
        asset: The asset.
        formats: Names of `WRITERS`, any order. The OBJ meshes and PNG textures are always
            there: `load` reads them.
        verdict: Result of the engine checks, or None.
        extras: More files for the folder, as preview.png; listed in the report.

    Returns:
        Relative path to content. All but timings.json are the same for the same asset.

    Raises:
        ExportError: Unknown format, or an asset that can't be written.
    """
    for name in formats:
        if name not in WRITERS:
            raise ExportError(f"unknown format {name!r}.{near_miss(name, WRITERS)}")
    check_asset(asset)
    files = {**obj_files(asset), **texture_files(asset)}
    for name, writer in WRITERS.items():
        if name in formats:
            files.update(writer(asset))
    files.update(extras or {})
    return with_report(files, asset, formats, verdict)


def with_report(
    files: Mapping[str, bytes], asset: Asset, formats: Sequence[str], verdict: Verdict | None
) -> dict[str, bytes]:
    """Return `files` with report.json and timings.json made new, as after a verification.

    Args:
        files: Result of `asset_files` for the same asset and formats.
        asset: The asset; only its timings may have changed.
        formats: Formats in `files`.
        verdict: Result of the engine checks, or None.
    """
    files = {path: content for path, content in files.items() if path not in (REPORT, TIMINGS)}
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    files[TIMINGS] = timings_json(asset)
    formats = [name for name in WRITERS if name in formats]
    files[REPORT] = report_json(asset, verdict, formats, digests)
    return files

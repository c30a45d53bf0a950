"""The one place that writes an asset to disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from seed3d.errors import ExportError, InputError
from seed3d.report import REPORT, TIMINGS, load_report

_CLUTTER = {".DS_Store", "Thumbs.db", "desktop.ini"}
_FORBIDDEN = set('<>:"|?*\\') | {chr(i) for i in range(32)}


def write_files(files: Mapping[str, bytes], folder: str | Path) -> Path:
    """Write an asset's files so that the folder is either complete or as it was before.

    The files go to a temporary folder beside the target, which then takes its place. An older
    asset is replaced; files in it that Seed3D didn't write are kept.

    Args:
        files: Relative path with forward slashes to content.
        folder: The asset's folder; parents are made.

    Returns:
        The folder.

    Raises:
        ExportError: A path leaves the folder, the target isn't an asset folder (a file, or a
            folder with other things in it), or the disk refused.
    """
    folder = Path(folder)
    for path in files:
        _check_path(path)
    target = folder.resolve()  # a link stays, what it points to is replaced
    kept = _foreign_files(target, files)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    except OSError as error:
        raise _disk_error(folder, error) from error
    try:
        _write_all(files, work / "new")
        for path in kept:
            _copy(target / path, work / "new" / path)
        _swap(work / "new", target, work / "old")
    except OSError as error:
        raise _disk_error(folder, error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _disk_error(folder: Path, error: OSError) -> ExportError:
    return ExportError(
        f"{folder}: could not be written ({error.strerror or error}). Free the disk or the "
        "permissions, or choose another folder with -o."
    )


def _check_path(path: str) -> None:
    parts = path.split("/")
    if any(p in ("", ".", "..") or p != p.rstrip(" .") or set(p) & _FORBIDDEN for p in parts):
        raise ExportError(
            f"got the file path {path!r}; wanted a relative path with forward slashes that stays "
            "inside the asset's folder"
        )


def _foreign_files(target: Path, files: Mapping[str, bytes]) -> list[PurePosixPath]:
    """Files in an older asset's folder that are the user's."""
    if not target.exists():
        return []
    if not target.is_dir():
        raise ExportError(f"{target}: got a file; wanted a folder. Choose another one with -o.")
    present = [p for p in _walk(target) if p.name not in _CLUTTER]
    if not present:
        return []
    try:
        ours = set(load_report(target).get("files", {})) | {REPORT, TIMINGS}
    except InputError as error:
        raise ExportError(
            f"{target}: got a folder that holds other things ({present[0]}, ...); wanted an empty "
            "one or an older asset. Choose another one with -o."
        ) from error
    return [p for p in present if str(p) not in ours and str(p) not in files]


def _walk(folder: Path) -> Iterator[PurePosixPath]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            yield PurePosixPath(path.relative_to(folder).as_posix())


def _write_all(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir()
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def _swap(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    target.rename(old)
    try:
        new.rename(target)
    finally:
        if not target.exists():
            old.rename(target)  # nothing is lost: the older asset is back

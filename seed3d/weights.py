"""Published weights: pinned in configs/weights.yaml, fetched on request, verified by SHA-256."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from seed3d.config import data_dir
from seed3d.errors import CheckpointError, near_miss

MANIFEST = "weights.yaml"
CHUNK = 1 << 20
TIMEOUT_S = 60.0

Progress = Callable[[str, int, int], Any]
"""Called with file, bytes done and bytes in all."""


@dataclass(frozen=True)
class WeightFile:
    """One file of a set of weights."""

    path: str
    """Relative path, in the repository and in the cache."""
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Weights:
    """A set of published weights."""

    name: str
    licence: str
    about: str
    source: str
    """Page of the repository."""
    revision: str
    """Commit of the repository; files are taken from there and nowhere else."""
    needs: tuple[str, ...]
    """Other sets that it can't be used without."""
    files: tuple[WeightFile, ...]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)

    def url(self, file: WeightFile) -> str:
        """Where a file is, at the pinned revision."""
        return f"{self.source}/resolve/{self.revision}/{file.path}"


def cache_dir() -> Path:
    """Folder of fetched weights: $SEED3D_CACHE, else ~/.cache/seed3d."""
    return Path(os.environ.get("SEED3D_CACHE") or Path.home() / ".cache" / "seed3d") / "weights"


def list_weights(manifest: Path | None = None) -> list[Weights]:
    """Every fetchable set of the manifest (default: the shipped one), by name.

    Raises:
        CheckpointError: An entry is wrong.
    """
    import yaml

    path = manifest or data_dir("configs") / MANIFEST
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [_weights(name, row, path) for name, row in sorted(rows.items())]


def find_weights(name: str, manifest: Path | None = None) -> Weights:
    """The set of that name.

    Raises:
        CheckpointError: There is none; the message names the nearest one.
    """
    known = {weights.name: weights for weights in list_weights(manifest)}
    if name not in known:
        raise CheckpointError(f"no published weights {name!r}.{near_miss(name, known)}")
    return known[name]


def with_needs(name: str, manifest: Path | None = None) -> list[Weights]:
    """The set and every set it needs, those first."""
    weights = find_weights(name, manifest)
    needed = [one for need in weights.needs for one in with_needs(need, manifest)]
    return [*needed, weights]


def folder_of(weights: Weights, cache: Path | None = None) -> Path:
    """Where the set lies in the cache; a new revision gets a folder of its own."""
    return (cache or cache_dir()) / weights.name / weights.revision


def located(name: str, file: str, cache: Path | None = None, manifest: Path | None = None) -> Path:
    """Path of a fetched file.

    Raises:
        CheckpointError: It isn't there or has another size; says which command fetches it.
    """
    weights = find_weights(name, manifest)
    row = next(row for row in weights.files if row.path == file)
    path = folder_of(weights, cache) / file
    size = path.stat().st_size if path.is_file() else None
    if size != row.bytes:
        got = "no file" if size is None else f"{size} bytes"
        raise CheckpointError(
            f"weights {name!r}: got {got} at {path}; wanted {row.bytes} bytes."
            f" Fetch them with: seed3d weights fetch {name}"
        )
    return path


def missing(weights: Weights, cache: Path | None = None) -> list[WeightFile]:
    """Files of the set that aren't in the cache at their full size."""
    folder = folder_of(weights, cache)
    return [
        file
        for file in weights.files
        if not (folder / file.path).is_file() or (folder / file.path).stat().st_size != file.bytes
    ]


def fetch(
    weights: Weights, cache: Path | None = None, progress: Progress | None = None
) -> list[Path]:
    """Download what is missing of the set; goes on where an earlier attempt stopped.

    A file appears under its name only when it's complete and its SHA-256 is right.

    Raises:
        CheckpointError: No connection, or another file than the pinned one was served.
    """
    folder = folder_of(weights, cache)
    for file in missing(weights, cache):
        _fetch_file(weights.url(file), file, folder / file.path, progress)
    return [folder / file.path for file in weights.files]


def verify(weights: Weights, cache: Path | None = None) -> dict[str, str]:
    """State of every file of the set: "ok", "missing" or "damaged", by a full SHA-256."""
    states = {}
    for file in weights.files:
        path = folder_of(weights, cache) / file.path
        if not path.is_file():
            states[file.path] = "missing"
        else:
            states[file.path] = "ok" if file_sha256(path) == file.sha256 else "damaged"
    return states


def file_sha256(path: Path) -> str:
    """SHA-256 of a file of any size, as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch_file(url: str, file: WeightFile, path: Path, progress: Progress | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    if not part.is_file() or part.stat().st_size < file.bytes:
        try:
            _download(url, file, part, progress)
        except (urllib.error.URLError, OSError) as error:
            have = part.stat().st_size if part.is_file() else 0
            raise CheckpointError(
                f"{url}: {error}; got {have} of {file.bytes} bytes. They are kept: the same command"
                " goes on from there"
            ) from error
    size, digest = part.stat().st_size, file_sha256(part)
    if digest != file.sha256:
        part.unlink()
        raise CheckpointError(
            f"{url}: got SHA-256 {digest[:12]}... ({size} bytes), wanted {file.sha256[:12]}..."
            f" ({file.bytes} bytes); the download was removed. Try again; if it happens again, the"
            " file on the server isn't the one that this version of Seed3D was checked with"
        )
    part.replace(path)


def _download(url: str, file: WeightFile, part: Path, progress: Progress | None) -> None:
    """Append what is missing of `part`; a server without ranges starts over."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "seed3d"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        resumed = have > 0 and answer.status == 206
        done = have if resumed else 0
        with part.open("ab" if resumed else "wb") as out:
            while block := answer.read(CHUNK):
                out.write(block)
                done += len(block)
                if progress is not None:
                    progress(file.path, done, file.bytes)
    if done < file.bytes:
        raise OSError("the connection ended early")


def _weights(name: str, row: Any, path: Path) -> Weights:
    wanted = {"licence", "about", "source", "revision", "needs", "files"}
    if not isinstance(row, dict) or set(row) != wanted:
        raise CheckpointError(
            f"{path}: entry {name!r} has keys {sorted(row)}; wanted {sorted(wanted)}"
        )
    files = []
    for file, facts in row["files"].items():
        pure = PurePosixPath(file)
        if pure.is_absolute() or ".." in pure.parts or len(facts.get("sha256", "")) != 64:
            raise CheckpointError(f"{path}: {name}/{file}: wanted a relative path with its SHA-256")
        files.append(WeightFile(file, int(facts["bytes"]), facts["sha256"]))
    row = {**row, "files": tuple(files), "needs": tuple(row["needs"])}
    return Weights(name=name, **row)

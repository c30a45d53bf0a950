"""Local paths and fsspec URLs (s3://, gs://, memory:// ...) behind the same few functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from seed3d.errors import ConfigError, InputError, MissingDependencyError


def is_url(place: str) -> bool:
    """True for a URL that isn't a local file."""
    return "://" in place and not place.startswith("file://")


def local_path(place: str) -> Path:
    """The path of a local place, given as a path or a file:// URL."""
    return Path(unquote(urlsplit(place).path) if place.startswith("file://") else place)


def filesystem(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it.

    Raises:
        MissingDependencyError: fsspec or the package for this kind of URL isn't installed.
        ConfigError: No such kind of URL.
    """
    try:
        import fsspec
    except ImportError as error:
        raise MissingDependencyError(
            f"{url}: URLs need fsspec; install it with `pip install 'seed3d[cluster]'`"
        ) from error
    try:
        return fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise MissingDependencyError(f"{url}: {error}. Install it with pip") from error
    except ValueError as error:
        raise ConfigError(f"{url}: {error}; wanted a path or a URL that fsspec knows") from error


def check_reachable(places: list[str], in_process: bool) -> None:
    """Refuse memory:// where workers are other processes and can't see it.

    Raises:
        ConfigError: It's asked for.
    """
    if not in_process:
        for place in places:
            if place.startswith("memory://"):
                raise ConfigError(
                    f"{place}: memory:// lives in one process, workers in others. "
                    "Use --workers 0, which works in the calling process, or another place"
                )


def read_text(place: str) -> str:
    """Text of a small file, without a byte order mark.

    Raises:
        InputError: It can't be read or isn't UTF-8.
    """
    try:
        if is_url(place):
            fs, path = filesystem(place)
            data = fs.cat_file(path)
        else:
            data = local_path(place).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{place}: can't be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: not UTF-8 text ({error}). Save it as UTF-8") from error


def fetch(source: str, folder: Path) -> Path:
    """Return a local file with an item's bytes; what is local already isn't copied.

    Args:
        source: Local path or URL.
        folder: Where a download goes, with the side files that a model names.

    Raises:
        InputError: No such file, or it can't be read.
    """
    from seed3d.batch.sides import SUFFIXES_WITH_SIDES, download_sides

    if not is_url(source):
        return Path(source)
    fs, path = filesystem(source)
    target = folder / path.rsplit("/", 1)[-1]
    try:
        fs.get_file(path, str(target))
        if target.suffix.lower() in SUFFIXES_WITH_SIDES:
            download_sides(fs, path, target)
    except OSError as error:
        raise InputError(f"{source}: can't be read ({error.strerror or error})") from error
    return target

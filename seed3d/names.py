"""User text to names that every file system, XML file and USD stage accepts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MAX_LENGTH = 64
"""Longest name [characters]; room is left for a file suffix and a long parent folder."""

_SEPARATORS = re.compile(r"[\s._-]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
_WINDOWS = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(10)}
_RESERVED = _WINDOWS | {"world"}
"""`world` is the fixed root body of MuJoCo and of many URDF tools."""


def asset_name(stem: str) -> str:
    """Return the asset name of a user's text, usually a file name without its suffix.

    Separators (white space, dot, dash, underscore) become one underscore each run. When
    anything else is changed or dropped, so that two different texts could give one name, a
    hash of the text is appended. `asset_name(asset_name(x)) == asset_name(x)`.

    Args:
        stem: Any text, also empty, with path parts, quotes or other scripts.

    Returns:
        Letters, digits and underscores, at most `MAX_LENGTH` of them, first a letter.
    """
    joined = _SEPARATORS.sub("_", stem).strip("_")
    ascii_text = unicodedata.normalize("NFKD", joined).encode("ascii", "ignore").decode()
    name = re.sub("__+", "_", _UNSAFE.sub("_", ascii_text)).strip("_")
    lossy = name != joined or not name
    if not name or not name[0].isalpha() or name.lower() in _RESERVED:
        name = f"object_{name}".rstrip("_")
    if lossy or len(name) > MAX_LENGTH:
        name = _with_suffix(name, _digest(stem))
    return name


def unique_names(stems: Iterable[str]) -> list[str]:
    """Return one asset name per text, all different even where case doesn't count.

    Texts that clash keep the plain name only where they are it; the others get a hash of
    their own text, so that most names don't depend on the order. Equal texts are numbered.
    """
    stems = list(stems)
    plain = [asset_name(stem) for stem in stems]
    counts: dict[str, int] = {}
    for key in {(name.lower(), stem) for name, stem in zip(plain, stems, strict=True)}:
        counts[key[0]] = counts.get(key[0], 0) + 1
    # Exact matches choose first: "a_b" keeps its name though "a b" stands before it.
    order = sorted(range(len(stems)), key=lambda i: plain[i] != stems[i])
    names, taken = list(plain), set[str]()
    for i in order:
        name = plain[i]
        if name != stems[i] and counts[name.lower()] > 1:
            name = _with_suffix(name, _digest(stems[i]))
        names[i] = _numbered(name, taken)
        taken.add(names[i].lower())
    return names


def _numbered(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate.lower() in taken:
        candidate, number = _with_suffix(name, str(number)), number + 1
    return candidate


def _with_suffix(name: str, suffix: str) -> str:
    return f"{name[: MAX_LENGTH - len(suffix) - 1].rstrip('_')}_{suffix}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]

"""An asset folder: which files are there, and what its report promises about them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.verify.model import FileModel, Format, MassProperties
from seed3d.verify.read_glb import read_glb
from seed3d.verify.read_mesh import read_mesh
from seed3d.verify.read_mjcf import read_mjcf
from seed3d.verify.read_urdf import read_urdf
from seed3d.verify.read_usd import read_usd
from seed3d.verify.target import Target

READERS = {"urdf": read_urdf, "mjcf": read_mjcf, "usd": read_usd, "glb": read_glb,
           "mesh": read_mesh, "mjcf_sdf": lambda path: read_mjcf(path, "mjcf_sdf")}  # fmt: skip
"""Format to reader, in the order in which a file is trusted when there is no report."""

_USD = (".usda", ".usdc", ".usd", ".usdz")


@dataclass(frozen=True)
class Expected:
    """What the folder's report promises; None where nothing is known, as in a foreign folder."""

    name: str | None = None
    formats: tuple[str, ...] = ()
    """Formats that must be there."""
    files: tuple[str, ...] = ()
    """Paths that must be there."""
    extents_m: np.ndarray | None = None
    """(3,) [m]."""
    mass: MassProperties | None = None
    hull_volumes_m3: np.ndarray | None = None
    """(H,) [m^3]."""


def expected_from_report(where: Path | Target) -> Expected:
    """Return what report.json promises; an empty Expected where there is none.

    Raises:
        InputError: report.json is there but can't be used.
    """
    if isinstance(where, Target) and where.files:
        return Expected()  # single files are taken as they are
    path = (where.folder if isinstance(where, Target) else where) / "report.json"
    if not path.is_file():
        return Expected()
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if report.get("format") != "seed3d-asset":
            return Expected()
        body = report["body"]
        return Expected(
            name=str(report["name"]),
            formats=tuple(report["formats"]),
            files=tuple(sorted(report["files"])),
            extents_m=np.array(report["mesh"]["extents_m"], np.float64).reshape(3),
            mass=MassProperties(
                float(body["mass_kg"]),
                np.array(body["com_m"], np.float64).reshape(3),
                np.array(body["inertia_kg_m2"], np.float64).reshape(3, 3),
            ),
            hull_volumes_m3=np.array(
                [h["volume_m3"] for h in report["collision"]["hulls"]], np.float64
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise InputError(
            f"{path}: not a usable report ({type(error).__name__}: {error})"
        ) from error


def find_files(where: Path | Target) -> dict[Format, Path]:
    """Return the description file of each format in a folder, or those that a target names.

    Of several candidates, the one named like the folder wins, then the first by name; the
    top folder comes before sub-folders.

    Raises:
        InputError: No such folder, or nothing to verify in it.
    """
    if isinstance(where, Target) and where.files:
        return dict(where.files)
    folder = where.folder if isinstance(where, Target) else where
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; wanted the folder of an asset")
    pick = {
        "urdf": _first(folder, (".urdf",)),
        "mjcf": _first(folder, (".xml", ".mjcf"), lambda p: is_mjcf(p) and not _is_sdf(p)),
        "usd": _first(folder, _USD),
        "glb": _first(folder, (".glb",)),
        "mjcf_sdf": _first(folder, (".xml",), _is_sdf),
    }
    found: dict[Format, Path] = {k: v for k, v in pick.items() if v is not None}  # type: ignore[misc]
    if not found:
        raise InputError(
            f"{folder}: nothing to verify; wanted a .urdf, a MuJoCo .xml, a .usd* or a .glb"
        )
    return found


def _first(folder: Path, suffixes: tuple[str, ...], accept: Any = None) -> Path | None:
    candidates = [
        p
        for depth in ("*", "*/*", "*/*/*")
        for p in folder.glob(depth)
        if p.suffix.lower() in suffixes and p.is_file() and (accept is None or accept(p))
    ]
    name = folder.resolve().name
    rank = [(len(p.relative_to(folder).parts), p.stem != name, str(p)) for p in candidates]
    return candidates[rank.index(min(rank))] if rank else None


def _is_sdf(path: Path) -> bool:
    """Seed3D's own MJCF with SDF collision, <model>_sdf.xml; a foreign one is an MJCF like others."""
    if not path.stem.endswith("_sdf"):
        return False
    try:
        _, root = next(ET.iterparse(path, events=("start",)))
    except (ET.ParseError, UnicodeDecodeError):
        return False
    return root.tag == "mujoco" and path.stem == f"{root.get('model')}_sdf"


def is_mjcf(path: Path) -> bool:
    """Return True for a file whose first element is <mujoco>, even where it breaks off later."""
    try:
        for _, element in ET.iterparse(path, events=("start",)):
            return element.tag == "mujoco"
    except (ET.ParseError, UnicodeDecodeError):
        return "<mujoco" in path.read_text(encoding="utf-8", errors="replace")[:4096]
    return False


def read_all(files: dict[Format, Path]) -> tuple[dict[Format, FileModel], dict[Format, str]]:
    """Read every file; returns the models, and for each that can't be read the reason."""
    models: dict[Format, FileModel] = {}
    problems: dict[Format, str] = {}
    for kind, path in files.items():
        try:
            models[kind] = READERS[kind](path)
        except InputError as error:
            problems[kind] = str(error)
    return models, problems

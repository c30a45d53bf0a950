"""An asset's folder back to the asset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.export.obj import TEXTURES, VISUAL, hull_path, texture_path
from seed3d.physics.primitives import primitive_mesh
from seed3d.report import load_report, load_timings
from seed3d.types import (
    Asset,
    Atlas,
    Camera,
    Collision,
    Estimate,
    Fallback,
    Mesh,
    PBRMaps,
    Primitive,
    RigidBody,
)


def load(folder: str | Path) -> Asset:
    """Read back what `write_files` wrote. Writing the result again gives the same bytes.

    Geometry comes from the OBJ files, pixels from the PNG textures, the rest from
    report.json. The prepared photo isn't kept in the folder, so `subject` is None.

    Raises:
        InputError: A file is missing, broken or of another format.
    """
    folder = Path(folder)
    report = load_report(folder)
    try:
        return _asset(folder, report)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{folder}: got an asset with a broken part ({type(error).__name__}: {error}). "
            "Generate it again."
        ) from error


def _asset(folder: Path, report: dict[str, Any]) -> Asset:
    mesh, atlas = _visual(folder / VISUAL, report["atlas"]["utilisation"])
    collision = report["collision"]
    primitives = tuple(_primitive(hull.get("primitive")) for hull in collision["hulls"])
    hulls = tuple(
        primitive_mesh(p) if p else _hull(folder / hull_path(i)) for i, p in enumerate(primitives)
    )
    base_color, metallic_roughness, normal = (_image(folder / texture_path(k)) for k in TEXTURES)
    body = dict(report["body"])
    for key in ("com_m", "inertia_kg_m2"):
        body[key] = np.array(body[key], np.float64)
    return Asset(
        name=report["name"],
        mesh=mesh,
        atlas=atlas,
        maps=PBRMaps(
            base_color, metallic_roughness, normal, seen_share=report["textures"]["seen_share"]
        ),
        collision=Collision(
            hulls, collision["volume_ratio"], (), primitives, collision.get("measures", {})
        ),
        body=RigidBody(**body),
        estimates={key: Estimate(**value) for key, value in report["estimates"].items()},
        fallbacks=tuple(Fallback(**value) for value in report["fallbacks"]),
        inputs=report["inputs"],
        camera=Camera(**report["camera"]) if report["camera"] else None,
        timings_s=load_timings(folder),
    )


def _primitive(data: dict[str, Any] | None) -> Primitive | None:
    if data is None:
        return None
    return Primitive(
        data["kind"],
        tuple(data["size_m"]),
        np.array(data["center_m"], np.float64),
        np.array(data["rotation"], np.float64),
    )


def _visual(path: Path, utilisation: float) -> tuple[Mesh, Atlas]:
    text = _lines(path)
    corners = np.array(
        [[corner.split("/") for corner in line.split()[1:]] for line in text if line[:2] == "f "],
        np.int64,
    ).reshape(-1, 3, 3)
    faces, uv_faces = corners[..., 0] - 1, corners[..., 1] - 1
    uv = _table(text, "vt ", 2)
    vertex = np.zeros(len(uv), np.int64)
    vertex[uv_faces] = faces
    mesh = Mesh(_table(text, "v ", 3), faces)
    return mesh, Atlas(vertex, uv_faces, uv, utilisation)


def _hull(path: Path) -> Mesh:
    text = _lines(path)
    faces = np.array([line.split()[1:] for line in text if line[:2] == "f "], np.int64)
    return Mesh(_table(text, "v ", 3), faces.reshape(-1, 3) - 1)


def _table(text: list[str], prefix: str, columns: int) -> np.ndarray:
    values = [line.split()[1:] for line in text if line.startswith(prefix)]
    # Through float32, as the writers do, so that stats of a loaded asset are the same too.
    return np.array(values, np.float32).reshape(-1, columns).astype(np.float64)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(
            f"{path}: got {error.strerror}; wanted the mesh that report.json names"
        ) from error


def _image(path: Path) -> np.ndarray:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return np.array(image.convert("RGB"))
    except (OSError, UnidentifiedImageError) as error:
        raise InputError(f"{path}: got {error}; wanted the texture as PNG") from error

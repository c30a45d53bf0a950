"""What a description file says about friction, in the words that engines read."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from seed3d.types import Check
from seed3d.verify.model import FileModel
from seed3d.verify.text import rounded

FRICTION = (0.01, 3.0)
"""Coulomb coefficients of dry everyday materials, with room to spare."""
_DEFAULTS = {"urdf": "PyBullet takes 0.5", "mjcf": "MuJoCo takes 1",
             "mjcf_sdf": "MuJoCo takes 1", "usd": "each engine its own"}  # fmt: skip


def check_friction(model: FileModel, required: bool) -> Check:
    """Check that the file gives a sliding friction that an engine reads.

    Args:
        model: A URDF, MJCF or USD file.
        required: None given fails; else it is only stated what engines take instead.
    """
    low, high = FRICTION
    found = stated_friction(model.path, model.format)
    wanted = f"{low:g} to {high:g}"
    if found:
        worst = max(found, key=lambda f: max(low - f, f - high))
        return Check("friction", low <= worst <= high, rounded(worst), wanted, model.format)
    value = f"not given: {_DEFAULTS.get(model.format, 'none')}"
    gazebo = model.format == "urdf" and "<gazebo" in _text(model.path)
    if gazebo:
        value += "; <gazebo> is read by Gazebo alone"
    return Check(
        "friction", not required, value, wanted if required else "stated only", model.format
    )


def stated_friction(path: Path, kind: str) -> list[float]:
    """Return every sliding friction that a file states; empty where it can't be parsed."""
    if kind == "usd":
        return _usd(path)
    try:
        root = ET.fromstring(_text(path))
    except ET.ParseError:
        return []
    if kind == "urdf":
        texts = [e.get("value", "") for e in root.findall("link/contact/lateral_friction")]
    else:
        texts = [e.get("friction", "").split(" ")[0] for e in root.iter("geom")]
    return [float(t) for t in texts if _is_number(t)]


def _usd(path: Path) -> list[float]:
    from pxr import Usd, UsdPhysics

    stage = Usd.Stage.Open(str(path))
    found = []
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.MaterialAPI):
            value = UsdPhysics.MaterialAPI(prim).GetDynamicFrictionAttr().Get()
            found += [float(value)] if value is not None else []
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

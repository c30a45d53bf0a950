"""What the page and the API take: files that are not decoded in the server, and options."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import gradio as gr

from seed3d.config import data_dir
from seed3d.errors import InputError
from seed3d.web.settings import WebSettings

QUALITIES = {"Draft": "fast", "Standard": "default", "Best": "quality"}
"""Choice on the page to preset."""
AUTO = "Estimate"
MESH_SUFFIXES = [".glb", ".gltf", ".obj", ".ply", ".stl"]


def photo_input(**options: Any) -> gr.Image:
    """Return an image input that hands (path, file name) over, for the worker process to decode.

    Gradio's own decodes uploads inside the server. Set on the component and not in a subclass,
    since Gradio writes a .pyi file beside every module that has one.
    """
    component = gr.Image(type="filepath", image_mode=None, **options)
    component.preprocess = _as_it_came  # type: ignore[method-assign]
    return component


def _as_it_came(payload: Any) -> Any:
    if payload is None or payload.path is None:
        return None
    return payload.path, payload.orig_name or Path(payload.path).name


def file_of(value: Any) -> tuple[str, str]:
    """Return path and name of what `photo_input` or a file input gave.

    Raises:
        InputError: Nothing there.
    """
    if not value:
        raise InputError("no file yet: give one, or pick an example")
    path, name = value if isinstance(value, tuple) else (str(value), Path(str(value)).name)
    if not Path(path).is_file():
        raise InputError("the file is no longer there; upload it again")
    return path, name


@functools.cache
def materials() -> list[str]:
    """Return the names of the materials table."""
    import yaml

    rows = yaml.safe_load((data_dir("configs") / "materials.yaml").read_text(encoding="utf-8"))
    return sorted(rows)


def options(
    settings: WebSettings,
    height_cm: float | None = None,
    mass_kg: float | None = None,
    material: str = AUTO,
    seed: float | None = None,
    mask: str = "auto",
    formats: list[str] | None = None,
    candidates: float | None = None,
    faces: float | None = None,
    texture: float | None = None,
    hull_threshold: float | None = None,
    max_hulls: float | None = None,
) -> dict[str, Any]:
    """Return the nested options that were given; None and 0 mean not given."""
    nested: dict[str, Any] = {
        "physics": {
            "height": height_cm / 100.0 if height_cm else None,
            "mass": mass_kg or None,
            "material": None if material in (AUTO, "", None) else material,
            "hull_threshold": hull_threshold or None,
            "max_hulls": int(max_hulls) if max_hulls else None,
        },
        "image": {"max_pixels": int(settings.max_megapixels * 1e6), "mask": mask},
        "geometry": {"candidates": int(candidates) if candidates else None},
        "mesh": {"target_faces": int(faces) if faces else None},
        "texture": {"size": int(texture) if texture else None},
        "export": {"formats": formats or None},
    }
    found: dict[str, Any] = {
        group: {k: v for k, v in values.items() if v is not None}
        for group, values in nested.items()
    }
    if seed is not None:
        found["seed"] = int(seed)
    return check(found)


def check(found: dict[str, Any]) -> dict[str, Any]:
    """Return options unchanged if they are within what one visitor may ask a server for.

    Raises:
        InputError: Out of range.
    """
    limits = {
        ("geometry", "candidates"): (1, 16),
        ("mesh", "target_faces"): (200, 200_000),
        ("texture", "size"): (64, 4096),
        ("physics", "max_hulls"): (1, 128),
        ("physics", "hull_threshold"): (0.01, 1.0),
    }
    for (group, name), (low, high) in limits.items():
        value = found.get(group, {}).get(name)
        if value is not None and not low <= value <= high:
            raise InputError(f"{name}: got {value:g}; wanted {low:g} to {high:g}")
    return found


def preset_of(quality: str, settings: WebSettings) -> str:
    """Return the preset of a choice on the page, or of a preset's own name.

    Raises:
        InputError: Neither.
    """
    if quality == "Standard" and settings.preset:
        return settings.preset
    if quality in QUALITIES:
        return QUALITIES[quality]
    names = {*QUALITIES.values(), settings.preset} - {""}
    if quality not in names:
        raise InputError(f"quality: got {quality!r}; wanted one of {', '.join(sorted(names))}")
    return quality


def physics_options(
    facts: dict[str, Any], length_cm: float | None, mass_kg: float | None, material: str
) -> dict[str, Any]:
    """Return what differs from the asset's estimates, or was said by the user before.

    A mass that was estimated follows a new size or material; one that the user gave stays.
    """
    estimates = facts["estimates"]
    shown = shown_physics(facts)
    found: dict[str, Any] = {}
    for key, given, old, unit, estimate in (
        ("length", length_cm, shown[0], 0.01, "size_m"),
        ("mass", mass_kg, shown[1], 1.0, "mass_kg"),
        ("material", material, shown[2], None, "material"),
    ):
        changed = bool(given) and given != old
        exact = estimates.get(estimate, {}).get("value")
        if changed:
            found[key] = given if unit is None else float(given) * unit  # type: ignore[arg-type]
        elif estimates.get(estimate, {}).get("source") == "user":
            found[key] = exact
    return found


def shown_physics(facts: dict[str, Any]) -> tuple[float, float, str]:
    """Return longest side [cm], mass [kg] and material as the fields show them."""
    longest = float(f"{100 * max(facts['extents_m']):.4g}")
    material = facts["estimates"].get("material", {}).get("value") or AUTO
    return longest, float(f"{facts['mass_kg']:.4g}"), str(material)

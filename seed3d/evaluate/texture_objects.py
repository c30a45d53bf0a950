"""Held-out objects with their true surface and materials, and photos of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seed3d.data.split import Split
from seed3d.errors import InputError
from seed3d.render.lighting import Lighting
from seed3d.types import Camera, Subject, Surface

PHOTO_SIZE = 512
"""Side of a photo [pixel], as the pipeline crops it."""


@dataclass(frozen=True)
class HeldOut:
    """One object that no model was trained on."""

    key: str
    category: str
    surface: Surface
    """Canonical frame, with its true materials."""
    has_front: bool
    materials_known: bool
    """Roughness and metallic are true; a furniture file only says colours."""


@dataclass(frozen=True)
class Photo:
    """A rendered photo and how it was taken."""

    subject: Subject
    camera: Camera
    lighting: Lighting


def held_out(
    records: Path, furniture: Path, cache: Path, split: Split, limit: int | None, kind: str
) -> list[tuple[str, Callable[[], HeldOut]]]:
    """List the objects of a split: key and a function that makes the object again.

    Args:
        records: Folder of training records: which objects there are and their split.
        furniture: Folder of the furniture libraries (.sh3f).
        cache: Where their models are unpacked.
        split: Which objects.
        limit: Most objects, spread evenly; all where None.
        kind: "furniture", "procedural" or "all".

    Raises:
        InputError: No record of that split.
    """
    from seed3d.train.data import read_attributes, record_paths

    keys = []
    for path in record_paths(records):
        if kind != "all" and path.name.startswith("procedural_") != (kind == "procedural"):
            continue
        with np.load(path) as record:
            if read_attributes(record)["split"] == split:
                keys.append(path.stem)
    if not keys:
        raise InputError(f"{records}: no record of the split {split!r} and kind {kind!r}")
    if limit and limit < len(keys):
        keys = [keys[i] for i in np.linspace(0, len(keys) - 1, limit).astype(int)]
    return [(key, _maker(key, furniture, cache)) for key in keys]


def take_photo(item: HeldOut, view: int = 0) -> Photo:
    """Render a photo (S, S) of an object; the same key and view give the same picture."""
    from seed3d.data.views import random_camera
    from seed3d.render.shade import render

    rng = np.random.default_rng([view, *item.key.encode()])
    camera = random_camera(item.surface.mesh, item.has_front, rng)
    lighting = Lighting.random(rng, camera)
    picture = render(item.surface, camera, PHOTO_SIZE, lighting)
    rgb = np.round(np.clip(picture.over(), 0, 1) * 255) / 255  # a photo has 8 bits
    subject = Subject(rgb.astype(np.float32), picture.alpha.astype(np.float32), "alpha")
    return Photo(subject, camera, lighting)


def _maker(key: str, furniture: Path, cache: Path) -> Callable[[], HeldOut]:
    def make() -> HeldOut:
        from seed3d.data.build import canonical_surface, furniture_recipe, procedural_recipe

        procedural = key.startswith("procedural_")
        if procedural:
            category, _, seed = key.removeprefix("procedural_").rpartition("_")
            recipe = procedural_recipe(category, int(seed), 1)
        else:
            recipe = furniture_recipe(_entry(key, furniture), cache, 1)
        surface, attributes = recipe.make()
        return HeldOut(
            key,
            attributes["category"],
            canonical_surface(surface),
            attributes["has_front"],
            procedural,
        )

    return make


def _entry(key: str, furniture: Path) -> object:
    from seed3d.data.furniture import read_catalogue

    library = furniture / f"{key.rpartition('_')[0]}.sh3f"
    for entry in read_catalogue(library):
        if entry.key == key:
            return entry
    raise InputError(f"{library}: no model {key}; wanted the library that the records came from")

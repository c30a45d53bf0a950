"""Collision geometry of a scene's parts, in the world."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.scene.parts import Item
from seed3d.types import Asset, Estimate, Mesh


def merged(meshes: list[Mesh]) -> Mesh:
    """Return one mesh of several, unchanged vertices."""
    start = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.faces + s for m, s in zip(meshes, start, strict=False)]),
    )


def hull_mesh(asset: Asset) -> Mesh:
    """All hulls of an asset as one mesh, link frame."""
    return merged(list(asset.collision.hulls))


def item_mesh(item: Item, asset: Asset) -> Mesh:
    """All hulls of an instance, world frame."""
    mesh = hull_mesh(asset)
    return replace(mesh, vertices=item.pose.apply(mesh.vertices))


def fingerprint(asset: Asset) -> str:
    """SHA-256 of what an instance looks like and weighs: equal assets share files."""
    digest = hashlib.sha256()
    arrays: list[Any] = [
        asset.mesh.vertices,
        asset.mesh.faces,
        asset.atlas.uv,
        asset.maps.base_color,
    ]
    arrays += [asset.maps.metallic_roughness, asset.maps.normal]
    arrays += [a for hull in asset.collision.hulls for a in (hull.vertices, hull.faces)]
    arrays += [asset.body.com_m, asset.body.inertia_kg_m2]
    for array in arrays:
        digest.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    body = asset.body
    numbers = (body.mass_kg, body.friction, body.rolling_friction, body.spinning_friction)
    kinds = [p.kind if p else "hull" for p in asset.collision.primitives]
    digest.update(repr((*numbers, body.restitution, kinds)).encode())
    return digest.hexdigest()


def scaled(asset: Asset, factor: float) -> Asset:
    """Return an asset of another size and the same density: mass s^3, inertia s^5.

    Args:
        asset: Any.
        factor: New over old length, > 0.

    Raises:
        InputError: The factor isn't a finite number above 0.
    """
    if not (np.isfinite(factor) and factor > 0):
        raise InputError(f"{asset.name}: got scale {factor}; wanted a finite number > 0")
    if factor == 1.0:
        return asset
    zero, body = np.zeros(3), asset.body
    size = float(asset.mesh.extents.max()) * factor
    note = f"scaled by {factor:.4g} for a scene"
    estimates = {
        **asset.estimates,
        "size_m": Estimate(size, "user", note),
        "mass_kg": Estimate(body.mass_kg * factor**3, "user", note),
    }
    collision = replace(
        asset.collision,
        hulls=tuple(h.moved(factor, zero) for h in asset.collision.hulls),
        primitives=tuple(
            p
            and replace(p, size_m=tuple(s * factor for s in p.size_m), center_m=p.center_m * factor)
            for p in asset.collision.primitives
        ),
        measures={
            key: value * factor if key.endswith("_m") else value
            for key, value in asset.collision.measures.items()
        },
    )
    return replace(
        asset,
        mesh=asset.mesh.moved(factor, zero),
        collision=collision,
        body=replace(
            body,
            mass_kg=body.mass_kg * factor**3,
            com_m=body.com_m * factor,
            inertia_kg_m2=body.inertia_kg_m2 * factor**5,
            rolling_friction=body.rolling_friction * factor,
            spinning_friction=body.spinning_friction * factor,
        ),
        estimates=estimates,
    )

"""What every writer may rely on, checked once before anything is built."""

from __future__ import annotations

import numpy as np

from seed3d.errors import ExportError
from seed3d.export.encode import float32
from seed3d.names import asset_name
from seed3d.types import Asset, RigidBody

TRIANGLE_SLACK = 1e-6
"""Share of the largest principal moment by which a + b may miss c (rounding of thin plates)."""


def check_asset(asset: Asset) -> None:
    """Refuse an asset that some engine would misread in silence.

    Raises:
        ExportError: Name, numbers, hulls or inertia are invalid; the message says which.
    """
    if asset.name != asset_name(asset.name):
        raise ExportError(
            f"asset name {asset.name!r}; wanted letters, digits and underscores. "
            f"seed3d.names.asset_name gives {asset_name(asset.name)!r}."
        )
    if not len(asset.mesh.faces):
        raise ExportError(f"{asset.name}: got a mesh without faces; wanted a closed mesh")
    if not asset.collision.hulls:
        raise ExportError(f"{asset.name}: got no collision hull; wanted at least one")
    for i, mesh in enumerate((asset.mesh, *asset.collision.hulls)):
        label = "mesh" if i == 0 else f"hull {i - 1}"
        if not np.isfinite(float32(mesh.vertices)).all():
            raise ExportError(f"{asset.name}: {label} has a vertex that isn't finite in float32")
    _check_body(asset.name, asset.body)


def _check_body(name: str, body: RigidBody) -> None:
    contact = (body.friction, body.rolling_friction, body.spinning_friction, body.restitution)
    if not (np.isfinite(contact).all() and min(contact) >= 0 and np.isfinite(body.com_m).all()):
        raise ExportError(
            f"{name}: got contact parameters {contact} and centre of mass {body.com_m.tolist()}; "
            "wanted finite numbers, contact parameters >= 0"
        )
    tensor = body.inertia_kg_m2
    if not (np.isfinite(tensor).all() and np.allclose(tensor, tensor.T, rtol=1e-9, atol=0)):
        raise ExportError(f"{name}: inertia {tensor.tolist()}; wanted finite and symmetric")
    low, middle, high = np.linalg.eigvalsh(tensor)
    if low <= 0 or low + middle < high * (1 - TRIANGLE_SLACK):
        raise ExportError(
            f"{name}: got principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m^2; wanted all "
            "positive and the largest at most the sum of the others (true of any real body)"
        )

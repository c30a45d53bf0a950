"""Size and mass that the photo head states on held-out objects, next to a size that looks at nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import MeshConfig, PhysicsConfig
from seed3d.errors import InputError
from seed3d.types import Estimate, Mesh

VIEWS = 4


def estimate_errors(
    features: Path, records: Path, model: str, limit: int | None = None
) -> dict[str, Any]:
    """Compare estimates from single photos with the truth of the test split.

    The size is the head's; the baseline is the median longest side of the training objects, the
    same for every photo. The mass goes through `rigid_body` with the head's size, category,
    material and density, on the object's own shape (its distance field), so that it measures the
    estimates and not the generated shape.

    Args:
        features: Folder of feature files.
        records: Folder of the records they were made from.
        model: Name of the model.
        limit: Most objects, spread evenly.

    Raises:
        InputError: No object of the test split.
    """
    from seed3d.train.data import read_attributes, record_paths

    train, test = [], []
    for path in record_paths(features):
        with np.load(path) as record:
            facts = read_attributes(record)
        if facts["split"] == "train":
            train.append(max(facts["size_m"]))
        elif facts["split"] == "test":
            test.append((path, facts))
    if not test or not train:
        raise InputError(f"{features}: no object of the splits train and test")
    if limit and limit < len(test):
        test = [test[i] for i in np.linspace(0, len(test) - 1, limit).astype(int)]
    usual = float(np.median(train))
    sizes, baseline, masses = [], [], []
    for path, facts in test:
        true = max(facts["size_m"])
        found = _head(path, model)
        sizes += [abs(one["size_m"].value / true - 1.0) for one in found]
        baseline += [abs(usual / true - 1.0)] * len(found)
        if facts.get("mass_kg"):
            shape = _shape(records / path.name)
            masses += [_mass(shape, one) / facts["mass_kg"] for one in found]
    within = [abs(math.log(m)) <= math.log(2.0) for m in masses]
    return {
        "estimate_objects": len(test),
        "estimate_photos": len(sizes),
        "size_error_median": round(float(np.median(sizes)), 4),
        "size_error_baseline_median": round(float(np.median(baseline)), 4),
        "mass_photos": len(masses),
        "mass_within_factor_2_share": round(float(np.mean(within)), 4) if within else None,
        "mass_ratio_median": round(float(np.median(masses)), 4) if masses else None,
    }


def _head(path: Path, model_name: str) -> list[dict[str, Estimate]]:
    """What the head says of the first VIEWS photos of one object, each with its mirror image."""
    import torch

    from seed3d.geometry.generate import attributes
    from seed3d.geometry.head import of_both_ways
    from seed3d.geometry.model import load_model
    from seed3d.geometry.photo import PhotoFeatures

    model = load_model(model_name)
    with np.load(path) as data:
        parts = [torch.from_numpy(data[k]).float() for k in PhotoFeatures._fields]
    count = len(parts[0]) // 2  # the mirror images come last
    found = []
    for view in range(min(count, VIEWS)):
        with torch.no_grad():
            out = model.head(PhotoFeatures(*(part[[view, view + count]] for part in parts)))
        found.append(attributes(of_both_ways(out), model))
    return found


def _shape(path: Path) -> Mesh:
    from seed3d.geometry.surface import extract
    from seed3d.mesh.solid import make_solid

    with np.load(path) as record:
        surface = extract(record["tsdf"].astype(np.float32) / 127)
    return make_solid(surface, MeshConfig()).mesh


def _mass(shape: Mesh, told: dict[str, Estimate]) -> float:
    from seed3d.physics.body import rigid_body
    from seed3d.physics.size import metric

    config = PhysicsConfig()
    mesh, _ = metric(shape, told["size_m"], config, told["category"])
    density = told["hull_density_kg_m3"]
    found = rigid_body(mesh, told["material"], told["category"], config, density=density)
    return found.body.mass_kg

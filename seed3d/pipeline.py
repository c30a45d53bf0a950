"""The whole flow. Reading `generate` tells every stage, in order."""

from __future__ import annotations

import dataclasses
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import Config, GeometryConfig, PhysicsConfig, to_dict
from seed3d.names import asset_name
from seed3d.threads import fixed_threads
from seed3d.types import (
    Asset,
    Atlas,
    Camera,
    Collision,
    Estimate,
    Fallback,
    Mesh,
    PBRMaps,
    Subject,
    SurfaceMaterial,
    Verdict,
)  # fmt: skip
from seed3d.verify.isolate import Launcher

Progress = Callable[[str], AbstractContextManager[Any]]
"""Called with a stage's name; the stage runs inside the context it returns."""


def generate(
    photo: str | Path | bytes,
    config: Config | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    mask: np.ndarray | None = None,
) -> Asset:
    """Make a simulation-ready asset from one photo of one object.

    Args:
        photo: Path of an image file, or its bytes.
        config: Every option; the default preset's values where None.
        name: Name of the asset; from the file name where None.
        progress: Called at every stage.
        mask: (H, W) bool, uint8 or float mask of the upright photo, instead of finding one.

    Returns:
        The asset in metres, in memory. `save` writes and verifies it.

    Raises:
        InputError: The file is no usable image.
        StageError: A stage can't do its job on this photo, with the reason.
    """
    from seed3d.geometry.generate import shape_from_photo
    from seed3d.image.load import read_file
    from seed3d.image.prepare import prepare
    from seed3d.mesh.solid import make_solid
    from seed3d.physics.hulls import decompose
    from seed3d.physics.materials import material
    from seed3d.physics.size import metric
    from seed3d.physics.vlm import refine
    from seed3d.texture.paint import paint_from_photo
    from seed3d.texture.unwrap import unwrap

    config = config or Config()
    if config.physics.material:
        material(config.physics.material)  # a misspelt name fails before the long work
    clock = Clock(progress)
    label, data = (name or "photo", photo) if isinstance(photo, bytes) else (
        name or Path(photo).stem, read_file(Path(photo)))  # fmt: skip

    with fixed_threads(_threads(config)):
        with clock("image"):
            subject = prepare(data, config.image, name=label, mask=mask)
        with clock("geometry"):
            shape = shape_from_photo(subject, config.geometry, config.seed, config.device)
        if config.vlm.url:
            with clock("vlm"):
                shape = refine(shape, subject.rgb, config.vlm)
        with clock("mesh"):
            solid = make_solid(shape.mesh, config.mesh)
        estimates = {"size_m": shape.size_m, "material": shape.material, "category": shape.category,
                     "silhouette_iou": Estimate(round(shape.silhouette_iou, 4), "measured",
                                                "agreement of the silhouette with the photo's mask")}  # fmt: skip
        if shape.hull_density_kg_m3 is not None:
            estimates["hull_density_kg_m3"] = shape.hull_density_kg_m3
        mesh, sizes = metric(solid.mesh, shape.size_m, config.physics, shape.category)
        with ThreadPoolExecutor(1) as beside:
            # It waits for a process.
            hulls = beside.submit(decompose, mesh, config.physics, config.seed)
            with clock("unwrap"):
                atlas = unwrap(solid.mesh, config.texture)
            with clock("texture"):
                row = material(config.physics.material or shape.material.value)
                look = SurfaceMaterial(
                    metallic=row.metallic, roughness=row.roughness, name=row.name
                )
                maps = paint_from_photo(
                    solid.mesh, atlas, subject, shape.camera, look, config.texture,
                    getattr(progress, "part", None),
                )  # fmt: skip
            return _finish(
                asset_name(label), mesh, atlas, maps, {**estimates, **sizes}, hulls,
                (*subject.fallbacks, *shape.fallbacks, *solid.fallbacks), config, clock,
                _inputs(label, data, config, mask), shape.camera, subject,
            )  # fmt: skip


def simready(
    model: str | Path,
    config: Config | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    up: str | None = None,
    unit_m: float | None = None,
) -> Asset:
    """Make a simulation-ready asset from a user's own mesh, keeping its texture.

    Args:
        model: Path of a GLB, glTF, OBJ, PLY or STL file.
        config: Every option; the default preset's values where None.
        name: Name of the asset; from the file name where None.
        progress: Called at every stage.
        up: "y" or "z"; by the format where None.
        unit_m: Length of the file's unit [m]; None: taken as 1, and a size that no object on a
            robot's floor has is refused as a likely slip of the unit.

    Raises:
        InputError: The file is no usable mesh.
        StageError: A stage can't do its job on this mesh, with the reason.
    """
    from seed3d.geometry.tsdf import canonical
    from seed3d.mesh.load import load_surface
    from seed3d.mesh.sheet import open_sheet
    from seed3d.mesh.solid import make_solid
    from seed3d.physics.hulls import decompose
    from seed3d.physics.naming import category_from_name
    from seed3d.physics.shell import placed
    from seed3d.physics.size import measured_size, metric
    from seed3d.texture.transfer import paint_from_surface
    from seed3d.texture.unwrap import unwrap

    config = config or Config()
    clock = Clock(progress)
    path = Path(model)
    label = name or path.stem

    with fixed_threads(_threads(config)):
        with clock("load"):
            source = load_surface(path, path.suffix, up=up)
            mesh, _, _ = canonical(source.mesh)
            size = measured_size(source.mesh, unit_m, path.name, config.physics)
            source = dataclasses.replace(source, mesh=mesh)
        with clock("mesh"):
            solid = make_solid(mesh, config.mesh)
            sheet = open_sheet(mesh, solid.mesh, config.mesh)
        estimates = {
            "size_m": size,
            "material": Estimate(None, "prior"),
            "category": category_from_name(label),
        }
        mesh, sizes = metric(solid.mesh, estimates["size_m"], config.physics, estimates["category"])
        sheet = placed(sheet, solid.mesh, mesh)
        with ThreadPoolExecutor(1) as beside:
            # It waits for a process.
            hulls = beside.submit(decompose, mesh, config.physics, config.seed)
            with clock("unwrap"):
                atlas = unwrap(solid.mesh, config.texture)
            with clock("texture"):
                maps = paint_from_surface(solid.mesh, atlas, source, config.texture)
            return _finish(
                asset_name(label), mesh, atlas, maps, {**estimates, **sizes}, hulls,
                (*source.fallbacks, *solid.fallbacks), config, clock,
                _inputs(path.name, path.read_bytes(), config), sheet=sheet,
            )  # fmt: skip


def _threads(config: Config) -> int:
    if config.threads is not None:
        return config.threads
    return 1 if config.geometry.model == GeometryConfig().model else 0


def _finish(
    name: str,
    mesh: Mesh,
    atlas: Atlas,
    maps: PBRMaps,
    estimates: dict[str, Estimate],
    hulls: Future[Collision],
    fallbacks: tuple[Fallback, ...],
    config: Config,
    clock: Clock,
    inputs: dict[str, Any],
    camera: Camera | None = None,
    subject: Subject | None = None,
    sheet: Mesh | None = None,
) -> Asset:
    """Metric textured solid to asset: pictures, hulls, mass."""
    from seed3d.physics.body import rigid_body
    from seed3d.pictures import to_draw
    from seed3d.texture.preview import draw

    with clock("pictures"):  # as many as there is time for until the hulls are found
        begun = to_draw(config.export)
        pictures = draw(begun, mesh, atlas, maps, camera, subject, hulls.done)
    with clock("hulls"):
        collision = hulls.result()
    with clock("physics"):
        found = rigid_body(
            mesh, estimates["material"], estimates["category"], config.physics, sheet,
            density=estimates.get("hull_density_kg_m3"),
        )  # fmt: skip
    return Asset(
        name=name,
        mesh=mesh,
        atlas=atlas,
        maps=maps,
        collision=collision,
        body=found.body,
        estimates={**estimates, **found.estimates},
        fallbacks=(*fallbacks, *found.fallbacks),
        inputs=inputs,
        camera=camera,
        subject=subject,
        pictures=pictures,
        timings_s=clock.seconds,
    )


def with_physics(asset: Asset, physics: PhysicsConfig, progress: Progress | None = None) -> Asset:
    """Give a finished asset another size, material or mass; shape, look and hulls stay.

    What `physics` leaves None keeps the asset's own size and material; a mass of None is
    estimated anew, at the new size and material. Only the numbers of `physics` that concern the
    hulls have no effect: the hulls are the asset's own, scaled.

    Raises:
        ConfigError: A number is out of range.
        StageError: The size is not within what engines take.
    """
    from seed3d.physics.body import rigid_body
    from seed3d.physics.hulls import moved
    from seed3d.physics.size import metric, refit

    clock = Clock(progress, asset.timings_s)
    old = asset.estimates
    with clock("physics"):
        mesh, sizes = metric(asset.mesh, old["size_m"], physics, old["category"])
        collision = moved(asset.collision, *refit(asset.mesh, mesh))
        # The open surface itself is gone; the mesh is its wall, both faces of it.
        was = old.get("mass_model", Estimate("solid", "prior"))
        sheet, sides = (mesh if was.value == "shell" else None), (2 if was.source == "mesh" else 1)
        found = rigid_body(
            mesh, old["material"], old["category"], physics, sheet, sides,
            density=old.get("hull_density_kg_m3"),
        )  # fmt: skip
    config = {**asset.inputs.get("config", {}), "physics": to_dict(physics)}
    kept = tuple(f for f in asset.fallbacks if not f.stage.startswith("physics.body"))
    return dataclasses.replace(
        asset,
        mesh=mesh,
        collision=collision,
        body=found.body,
        estimates={**old, **sizes, **found.estimates},
        fallbacks=(*kept, *found.fallbacks),
        inputs={**asset.inputs, "config": config},
        timings_s=clock.seconds,
    )


def save(
    asset: Asset,
    folder: str | Path,
    config: Config | None = None,
    progress: Progress | None = None,
    launcher: Launcher | None = None,
) -> Verdict:
    """Write an asset to ``folder`` and verify what was written, in both engines.

    The folder appears complete or not at all; a failed verification is recorded in report.json
    and told by the verdict, and the files are there to look at. A `launcher` opened before the
    asset was begun saves about a second.

    Returns:
        The verdict, as it stands in report.json.
    """
    from seed3d.export import write_files

    files, verdict, _ = finished_files(asset, config, progress, launcher)
    write_files(files, folder)
    return verdict


def finished_files(
    asset: Asset,
    config: Config | None = None,
    progress: Progress | None = None,
    launcher: Launcher | None = None,
) -> tuple[dict[str, bytes], Verdict, dict[str, float]]:
    """Return every file of a verified asset in memory, the verdict, and seconds per stage.

    For whoever writes to another place than a local folder; `save` is the usual door.
    """
    from seed3d.export import asset_files, with_report, write_files
    from seed3d.pictures import preview_files
    from seed3d.verify import verify_folder

    config = config or Config()
    clock = Clock(progress, asset.timings_s)
    with (
        Launcher() if launcher is None else nullcontext(launcher) as launcher,
        tempfile.TemporaryDirectory(prefix="seed3d-") as temporary,
        ThreadPoolExecutor(1) as beside,
    ):
        with clock("export"):
            files = asset_files(asset, config.export.formats)
        written = write_files(files, Path(temporary) / asset.name)
        judging = beside.submit(  # waits for processes
            verify_folder, written, config.verify, launcher=launcher
        )
        with clock("preview"):
            files |= preview_files(asset, config.export)
        with clock("verify"):
            verdict = judging.result()
    timed = dataclasses.replace(asset, timings_s=clock.seconds)
    return with_report(files, timed, config.export.formats, verdict), verdict, clock.seconds


class Clock:
    """Times stages and passes their names on."""

    def __init__(self, progress: Progress | None, seconds: dict[str, float] | None = None) -> None:
        self.progress = progress
        self.seconds = dict(seconds or {})

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Run a stage."""
        start = time.perf_counter()
        if self.progress is None:
            yield
        else:
            with self.progress(stage):
                yield
        self.seconds[stage] = round(time.perf_counter() - start, 3)


def _inputs(
    name: str, data: bytes, config: Config, mask: np.ndarray | None = None
) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    inputs = {"file": name, "sha256": digest, "seed": config.seed, "config": to_dict(config)}
    if mask is not None:
        inputs["mask_sha256"] = hashlib.sha256(mask.tobytes()).hexdigest()
    return inputs

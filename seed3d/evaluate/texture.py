"""Photo to texture on held-out objects, next to simple completions of the same run."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from seed3d.config import Config, to_dict
from seed3d.conventions import srgb_to_linear
from seed3d.evaluate.texture_baselines import BASELINES, baseline_maps
from seed3d.evaluate.texture_objects import HeldOut, Photo, take_photo
from seed3d.evaluate.texture_pictures import Stage, turned, unseen_cameras
from seed3d.evaluate.texture_scores import bad_texels, psnr, seam_jump_ratio, ssim
from seed3d.render.lighting import Lighting
from seed3d.texture.stretch import atlas_stretch
from seed3d.types import Atlas, Camera, Estimate, Mesh, PBRMaps, SurfaceMaterial

Geometry = Literal["true", "generated"]
PICTURE_SIZE = 192
"""Side of the compared pictures [pixel]."""
NEW_LIGHTS = 3


@dataclass(frozen=True)
class Canvas:
    """A mesh to paint and the camera that the photo is taken to be seen from."""

    mesh: Mesh
    atlas: Atlas
    camera: Camera
    prior: SurfaceMaterial
    unwrap_seconds: float


def evaluate_texture(
    objects: list[tuple[str, Any]],
    config: Config,
    geometries: tuple[Geometry, ...],
    rows_file: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one row per object and geometry.

    Args:
        objects: Of `texture_objects.held_out`.
        config: Of mesh, texture and geometry stage.
        geometries: "true" paints the object's own mesh, made solid, from the true camera;
            "generated" the shape and camera that the geometry stage finds in the photo.
        rows_file: Where rows are kept as they come (JSON lines). Rows of an earlier run with the
            same configuration are yielded from there and not measured again.
    """
    setting = json.dumps(to_dict(config), sort_keys=True, default=str)
    done = _kept_rows(rows_file, setting)
    for key, make in objects:
        missing = [g for g in geometries if (key, g) not in done]
        item = make() if missing else None
        photo = take_photo(item) if item else None
        for geometry in geometries:
            if item is not None and photo is not None and geometry in missing:
                row = measure(item, photo, geometry, config)
                done[key, geometry] = row
                _keep(rows_file, row)
            yield done[key, geometry]


def measure(item: HeldOut, photo: Photo, geometry: Geometry, config: Config) -> dict[str, Any]:
    """Return the row of one object on one geometry."""
    from seed3d.texture.paint import paint_from_photo
    from seed3d.texture.texels import chart_texels
    from seed3d.texture.transfer import paint_from_surface

    canvas = _canvas(item, photo, geometry, config)
    start = time.process_time()
    maps = paint_from_photo(
        canvas.mesh, canvas.atlas, photo.subject, canvas.camera, canvas.prior, config.texture
    )
    seconds = canvas.unwrap_seconds + time.process_time() - start
    texels = chart_texels(canvas.mesh, canvas.atlas, config.texture.size)
    simple, lit, seen = baseline_maps(
        canvas.mesh, canvas.atlas, texels, photo.subject, canvas.camera, canvas.prior,
        config.texture,
    )  # fmt: skip
    truth = paint_from_surface(canvas.mesh, canvas.atlas, item.surface, config.texture)
    inside = texels.covered
    row: dict[str, Any] = {
        "key": item.key, "category": item.category, "geometry": geometry, "seconds": seconds,
        "unwrap_seconds": canvas.unwrap_seconds, "charts": _chart_count(canvas.atlas),
        "utilisation": canvas.atlas.utilisation,
        "stretch": atlas_stretch(canvas.mesh, canvas.atlas),
        "unwrap_fallbacks": [f.what for f in canvas.atlas.fallbacks],
        "shares": {"seen": maps.seen_share, "generated": 0.0, "completed": 1 - maps.seen_share},
        "bad_texel_share": float(
            bad_texels(maps.base_color[inside], truth.base_color[inside]).mean()
        ),
        "seam_jump_ratio": seam_jump_ratio(
            canvas.mesh, canvas.atlas, maps.base_color, truth.base_color, texels
        ),
    }  # fmt: skip
    if geometry == "true":
        row |= _material_errors(maps, lit, truth, inside, seen, item.materials_known)
    row |= _picture_scores(item, photo, canvas, {"seed3d": maps, **simple}, lit, truth)
    return row


def _canvas(item: HeldOut, photo: Photo, geometry: Geometry, config: Config) -> Canvas:
    from seed3d.geometry.generate import shape_from_photo

    if geometry == "true":
        return true_canvas(item, photo, config)
    shape = shape_from_photo(photo.subject, config.geometry, config.seed)
    return _laid_out(shape.mesh, shape.camera, shape.material, config)


def true_canvas(item: HeldOut, photo: Photo, config: Config) -> Canvas:
    """The object's own mesh, made solid, and the true camera; the material is estimated."""
    from seed3d.geometry.generate import attributes
    from seed3d.geometry.model import load_model
    from seed3d.geometry.photo import encode_photo
    from seed3d.image.encoder import load_encoder

    model = load_model(config.geometry.model)
    features = encode_photo(photo.subject.rgb, photo.subject.mask, load_encoder())
    found = attributes(model.head(features), model)["material"]
    return _laid_out(item.surface.mesh, photo.camera, found, config)


def _laid_out(mesh: Mesh, camera: Camera, found: Estimate, config: Config) -> Canvas:
    from seed3d.mesh.solid import make_solid
    from seed3d.physics.materials import material
    from seed3d.processes import children_cpu_s
    from seed3d.texture.unwrap import unwrap

    solid = make_solid(mesh, config.mesh)
    start = time.process_time()
    children = children_cpu_s()
    atlas = unwrap(solid.mesh, config.texture)
    spent = time.process_time() - start + children_cpu_s() - children
    row = material(found.value)
    prior = SurfaceMaterial(metallic=row.metallic, roughness=row.roughness, name=row.name)
    return Canvas(solid.mesh, atlas, camera, prior, spent)


def _chart_count(atlas: Atlas) -> int:
    from seed3d.texture.charts import connected

    pairs = np.concatenate([atlas.faces[:, [0, 1]], atlas.faces[:, [1, 2]]])
    return int(connected(pairs, len(atlas.vertex)).max()) + 1


def _material_errors(
    maps: PBRMaps, lit: PBRMaps, truth: PBRMaps, inside: np.ndarray, seen: np.ndarray, known: bool
) -> dict[str, Any]:
    """Mean absolute errors of seen texels (all: of every texel), linear albedo and materials."""
    table = srgb_to_linear(np.arange(256) / 255.0)

    def gap(found: PBRMaps) -> np.ndarray:
        return np.abs(table[found.base_color[inside]] - table[truth.base_color[inside]]).mean(1)

    ours, photo = gap(maps), gap(lit)
    out = {
        "albedo_error": float(ours[seen].mean()), "albedo_error_all": float(ours.mean()),
        "photo_as_albedo_error": float(photo[seen].mean()),
        "photo_as_albedo_error_all": float(photo.mean()),
    }  # fmt: skip
    if known:
        packed = (m.metallic_roughness[inside] / 255.0 for m in (maps, truth))
        difference = np.abs(np.subtract(*packed)).mean(axis=0)
        out |= {"roughness_error": float(difference[1]), "metallic_error": float(difference[2])}
    return out


def _picture_scores(
    item: HeldOut,
    photo: Photo,
    canvas: Canvas,
    methods: dict[str, PBRMaps],
    lit: PBRMaps,
    truth: PBRMaps,
) -> dict[str, Any]:
    """Renders against renders of the object itself, light and camera as the photo's or new."""
    from seed3d.texture.surface import asset_surface

    surfaces = [asset_surface(canvas.mesh, canvas.atlas, m) for m in methods.values()]
    extra = [asset_surface(canvas.mesh, canvas.atlas, m) for m in (lit, truth)]
    stage, true_stage = Stage(surfaces[0].mesh), Stage(item.surface.mesh)
    rng = np.random.default_rng([7, *item.key.encode()])
    new = [Lighting.random(rng, photo.camera) for _ in range(NEW_LIGHTS)]
    turn = canvas.camera.azimuth_rad - photo.camera.azimuth_rad
    lights = [photo.lighting, *new]
    own_lights = [turned(light, turn) for light in lights]

    reference, cover = true_stage.pictures([item.surface], photo.camera, lights, PICTURE_SIZE)
    found, own = stage.pictures([surfaces[0], *extra], canvas.camera, own_lights, PICTURE_SIZE)
    plain, _ = stage.pictures(surfaces[1:], canvas.camera, own_lights[:1], PICTURE_SIZE)
    either = np.maximum(cover, own)
    front = np.concatenate([found[:1, 0], plain[:, 0]])
    out: dict[str, Any] = {
        "relight_psnr_db": _relit(found[0], reference[0], either),
        "photo_as_albedo_relight_psnr_db": _relit(found[1], reference[0], either),
        "front_ceiling_psnr_db": psnr(found[2, 0], reference[0, 0]),
        "front_object_psnr_db": psnr(found[0, 0], reference[0, 0], either),
    }
    views = []
    cameras = zip(
        unseen_cameras(canvas.camera, canvas.mesh),
        unseen_cameras(photo.camera, item.surface.mesh),
        strict=True,
    )
    for own_camera, true_camera in cameras:
        true, _ = true_stage.pictures([item.surface], true_camera, lights[:1], PICTURE_SIZE)
        ours, _ = stage.pictures(surfaces, own_camera, own_lights[:1], PICTURE_SIZE)
        views.append((ours[:, 0], true[0, 0]))
    for index, name in enumerate(methods):
        out[name] = {
            "front": _scores([(front[index], reference[0, 0])]),
            "unseen": _scores([(ours[index], true) for ours, true in views]),
        }
    return out


def _relit(found: np.ndarray, true: np.ndarray, either: np.ndarray) -> float:
    """PSNR of object pixels under the new lights."""
    return float(np.mean([psnr(f, t, either) for f, t in zip(found[1:], true[1:], strict=True)]))


def _scores(pairs: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    from seed3d.evaluate.perceptual import perceptual_distance

    found, true = (np.stack([pair[k] for pair in pairs]) for k in (0, 1))
    return {
        "psnr_db": float(np.mean([psnr(f, t) for f, t in pairs])),
        "ssim": float(np.mean([ssim(f, t) for f, t in pairs])),
        "perceptual": float(perceptual_distance(found, true).mean()),
    }


def summarise_texture(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over rows of one geometry; the keys are those of docs/results/texture.json."""
    total: dict[str, Any] = {"count": len(rows)}
    total |= _block(rows, "seed3d")
    total["baselines"] = {name: _block(rows, name) for name in BASELINES}
    for name in (
        "albedo_error", "albedo_error_all", "photo_as_albedo_error", "photo_as_albedo_error_all",
        "roughness_error", "metallic_error", "seam_jump_ratio", "relight_psnr_db",
        "photo_as_albedo_relight_psnr_db", "front_object_psnr_db", "front_ceiling_psnr_db",
        "utilisation", "stretch",
    ):  # fmt: skip
        values = [row[name] for row in rows if row.get(name) is not None]
        total[f"{name}_mean"] = float(np.mean(values)) if values else None
    total["bad_texel_share"] = float(np.mean([row["bad_texel_share"] for row in rows]))
    shares = [row["shares"] for row in rows]
    total["shares"] = {k: float(np.mean([s[k] for s in shares])) for k in shares[0]}
    total["seconds_median"] = float(np.median([row["seconds"] for row in rows]))
    return total


def _block(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return {
        where: {f"{k}_mean": float(np.mean([row[name][where][k] for row in rows])) for k in keys}
        for where, keys in ((w, rows[0][name][w]) for w in ("front", "unseen"))
    }


def _kept_rows(path: Path | None, setting: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Rows of an interrupted run; the file is begun anew where its configuration differs."""
    if path is None:
        return {}
    lines = path.read_text().splitlines() if path.is_file() else []
    if not lines or lines[0] != setting:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(setting + "\n")
        return {}
    rows = [json.loads(line) for line in lines[1:] if line.endswith("}")]
    return {(row["key"], row["geometry"]): row for row in rows}


def _keep(path: Path | None, row: dict[str, Any]) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")

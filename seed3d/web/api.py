"""The documented functions that `gradio_client` calls; the page's own events stay private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gradio as gr

from seed3d.errors import InputError, Seed3DError
from seed3d.web import tasks
from seed3d.web.desk import Desk
from seed3d.web.inputs import MESH_SUFFIXES, file_of, options, preset_of
from seed3d.web.pool import Cancelled
from seed3d.web.result import WORK


def add_api(desk: Desk) -> None:
    """Add the API's functions to the page that is being built."""
    settings = desk.settings

    def run(request: gr.Request, task: str, make: Any) -> tuple[dict[str, Any], str]:
        """Run a job and return its facts with the asset's id, and the zip of everything."""
        session = str(request.session_hash)
        token, folder = desk.new_job(session)
        try:
            facts = desk.finish(session, task, f"api {task}", token, **make(folder))
        except (Seed3DError, Cancelled) as error:
            desk.workspace.drop(token)
            raise gr.Error(str(error) or "stopped", print_exception=False) from error
        path = folder / tasks.ZIPS / f"{facts['name']}_all.zip"
        return {"asset_id": token, **facts}, str(path)

    def generate(
        photo: Any, quality: str, height_m: Any, mass_kg: Any, material: str, seed: Any,
        strokes: Any, request: gr.Request,
    ) -> tuple[dict[str, Any], str]:  # fmt: skip
        """Make a simulation-ready asset from one photo of one object.

        Returns (facts, zip): facts has asset_id, size, mass, estimates with sources, the verdict
        of every check; the zip has URDF, MJCF, USD, GLB, textures and report.json.
        """

        def make(folder: Path) -> dict[str, Any]:
            path, name = file_of(photo)
            chosen = options(
                settings, 100 * height_m if height_m else None, mass_kg, material, seed
            )
            return {"photo": path, "name": Path(name).stem, "folder": str(folder),
                    "preset": preset_of(quality, settings), "options": chosen,
                    "strokes": strokes or []}  # fmt: skip

        return run(request, "make_photo", make)

    def simready(
        model: Any, quality: str, unit_m: Any, height_m: Any, mass_kg: Any, material: str,
        request: gr.Request,
    ) -> tuple[dict[str, Any], str]:  # fmt: skip
        """Make a simulation-ready asset from a mesh file (GLB, OBJ, PLY, STL); as generate."""

        def make(folder: Path) -> dict[str, Any]:
            path, name = file_of(model)
            chosen = options(settings, 100 * height_m if height_m else None, mass_kg, material)
            return {"mesh": path, "name": Path(name).stem, "folder": str(folder),
                    "preset": preset_of(quality, settings), "options": chosen, "up": None,
                    "unit_m": float(unit_m or 1.0)}  # fmt: skip

        return run(request, "make_mesh", make)

    def physics(
        asset_id: str, length_m: Any, mass_kg: Any, material: str, request: gr.Request
    ) -> tuple[dict[str, Any], str]:
        """Give an asset of this server another longest side, mass or material, and test it again.

        What is left empty stays; a mass that was estimated follows size and material.
        """

        def make(folder: Path) -> dict[str, Any]:
            source = desk.workspace.job(asset_id)
            given = {"length": length_m, "mass": mass_kg, "material": material}
            chosen = {**_said_before(source), **{k: v for k, v in given.items() if v}}
            return {"source": str(source), "folder": str(folder), "options": chosen}

        return run(request, "change_physics", make)

    def find_mask(photo: Any, request: gr.Request) -> dict[str, Any]:
        """Find the object in a photo: image and mask (alpha of a PNG) as data URLs, and notes."""
        try:
            path, name = file_of(photo)
            return desk.finish(
                str(request.session_hash), "find_mask", "mask", photo=path, name=name, mask="auto",
                max_pixels=int(settings.max_megapixels * 1e6),
            )  # fmt: skip
        except (Seed3DError, Cancelled) as error:
            raise gr.Error(str(error) or "stopped", print_exception=False) from error

    photo = gr.File(label="Image file", visible=False)
    model = gr.File(label="Mesh file", visible=False, file_types=MESH_SUFFIXES)
    quality = gr.Textbox("default", label="Preset: fast, default or quality", visible=False)
    # A client needn't give what has a value here.
    height = gr.Number(0, label="True height [m], 0 or empty: estimate", visible=False)
    length = gr.Number(0, label="Longest side [m], 0 or empty: as it is", visible=False)
    unit = gr.Number(1.0, label="Length of the file's unit [m]", visible=False)
    mass = gr.Number(0, label="Mass [kg], 0 or empty: estimate", visible=False)
    material = gr.Textbox("", label="Row of materials.yaml, empty: estimate", visible=False)
    seed = gr.Number(0, label="Seed", precision=0, visible=False)
    strokes = gr.JSON([], label="Mask strokes, as seed3d.web.masks.edited_mask", visible=False)
    asset = gr.Textbox("", label="asset_id of an earlier answer", visible=False)
    facts = gr.JSON(label="Facts", visible=False)
    archive = gr.File(label="Zip of everything", visible=False)
    view = gr.JSON(label="Mask", visible=False)
    work: dict[str, Any] = {"concurrency_id": WORK, "show_progress": "hidden"}
    for function, inputs in (
        (generate, [photo, quality, height, mass, material, seed, strokes]),
        (simready, [model, quality, unit, height, mass, material]),
        (physics, [asset, length, mass, material]),
    ):
        button = gr.Button(visible=False)
        button.click(function, inputs, [facts, archive], api_name=function.__name__, **work)
    gr.Button(visible=False).click(
        find_mask, [photo], [view], api_name="find_mask", concurrency_id="mask",
        show_progress="hidden",
    )  # fmt: skip


def _said_before(source: Path) -> dict[str, Any]:
    """What the user gave when the asset was made: it stays, unlike an estimate."""
    path = source / tasks.ASSET / "report.json"
    if not path.is_file():
        raise InputError("asset_id: got that of something else; wanted an asset's")
    told = json.loads(path.read_text(encoding="utf-8"))["estimates"]
    keys = {"length": "size_m", "mass": "mass_kg", "material": "material"}
    found = {option: told.get(key, {}) for option, key in keys.items()}
    return {option: e["value"] for option, e in found.items() if e.get("source") == "user"}

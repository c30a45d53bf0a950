"""`seed3d scene`: several assets in one world."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seed3d.cli.options import resolve
from seed3d.config import ConfigError
from seed3d.errors import Seed3DError

if TYPE_CHECKING:
    from seed3d.scene import Scene


@click.command()
@click.argument("layout", required=False, type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
              help="Folder of the scene.")  # fmt: skip
@click.option("--from-image", type=click.Path(path_type=Path), help="A photo of several objects.")
@click.option("--masks", multiple=True, type=click.Path(path_type=Path),
              help="Mask image per object (white inside), or one image of labels; repeatable.")  # fmt: skip
@click.option(
    "--boxes", multiple=True, metavar="L,T,R,B", help="Box round an object [pixel]; repeatable."
)
@click.option("--segmenter", metavar="MODULE:FUNCTION",
              help="Your own model: RGB array in, list of masks out.")  # fmt: skip
@click.option(
    "--pitch", type=float, help="How far the photo's camera looks down [deg].  [default: estimated]"
)
@click.option("--fov", type=float,
              help="Angle of view across the photo's longer side [deg].  [default: EXIF, else 50]")  # fmt: skip
@click.option("--camera-height", type=float,
              help="Camera above the table or floor [m]; sets all sizes.  [default: from the objects]")  # fmt: skip
@click.option("--vlm", metavar="URL",
              help="Ask a vision-language model (OpenAI-compatible) for sizes and materials.")  # fmt: skip
@click.option("--vlm-layout", is_flag=True,
              help="Ask it too what stands on what in the photo, and where the objects are if "
                   "nothing else tells.")  # fmt: skip
@click.option("--clutter", multiple=True, type=click.Path(path_type=Path),
              help="Asset folder, or a folder of them, to drop at random; repeatable.")  # fmt: skip
@click.option("--count", type=click.IntRange(1, 500), default=20, show_default=True,
              help="Objects to drop.")  # fmt: skip
@click.option("--engine", type=click.Choice(["mujoco", "pybullet"]), default="mujoco", show_default=True,
              help="Where the scene settles.")  # fmt: skip
@click.option(
    "--seconds", type=float, default=10.0, show_default=True, help="Longest settling [s]; 0 is off."
)
@click.option("--check/--no-check", default=True, show_default=True,
              help="Hold the scene in both engines and measure overlaps, motion and support.")  # fmt: skip
@click.option(
    "--hold", type=click.FloatRange(0.1, 600), default=1.0, show_default=True,
    help="How long --check holds the scene [s].",
)  # fmt: skip
@click.option("--seed", type=int, help="Seed of every random choice.  [default: 0]")
@click.option(
    "--preset", default="default", show_default=True, help="For assets made from images or meshes."
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Any other option of `seed3d generate`.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only errors and the last line.")
def scene(layout: Path | None, out: Path, quiet: bool, **flags: Any) -> None:
    """Assemble, settle, check and write a scene of several assets.

    \b
    From a layout file:
      seed3d scene desk.yaml -o out/desk
        name: desk
        assets:
          table: out/table                       # an asset folder
          mug: {image: mug.jpg, height: 0.095}   # made first; or {mesh: mug.glb}
        objects:
          - {asset: table, fixed: true, position: [0, 0, 0]}
          - {asset: mug, on: table, at: [0.1, 0.2]}
          - {asset: mug, beside: mug, side: left, gap: 0.03}
        Relations: on, in, beside, against; a free place is found where `at` is missing.
        Also: blocks (fixed boxes), walls, clutter, cameras, lighting, settle, seed, ground.
    From a photo; each object becomes an asset and stands where it stands in the photo:
      seed3d scene --from-image table.png -o out/table                 objects by transparency
      seed3d scene --from-image t.jpg --boxes 10,20,200,220 --boxes 250,30,400,200 -o out/t
    A random heap:
      seed3d scene --clutter out/assets --count 30 -o out/heap

    Writes scene.xml (MuJoCo), load_pybullet.py with one URDF per asset, scene.usda, scene.glb,
    overview.png, report.json and scene.json, which can be loaded and edited (seed3d.Scene.load).
    Exit code 1 where the check fails.
    """  # noqa: D301
    given = [bool(layout), bool(flags["from_image"]), bool(flags["clutter"])]
    if sum(given) != 1:
        raise click.UsageError("wanted one of: a LAYOUT file, --from-image, --clutter")
    try:
        config = resolve(flags)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    if flags["vlm_layout"] and not (flags["from_image"] and config.vlm.url):
        raise click.UsageError("--vlm-layout: wanted --from-image, and an endpoint by --vlm URL")
    try:
        passed = _run(layout, out, quiet, config, flags)
    except Seed3DError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    sys.exit(0 if passed else 1)


def _run(layout: Path | None, out: Path, quiet: bool, config: Any, flags: dict[str, Any]) -> bool:
    built = _build(layout, config, flags)
    if flags["seconds"] > 0 and built.settled is None:
        result = built.settle(flags["engine"], flags["seconds"])
        rest = "at rest" if result["at_rest"] else "still moving"
        _say(quiet, f"settled in {flags['engine']}: {rest} after {result['seconds']:.2f} s")
    checks = built.check(seconds=flags["hold"]) if flags["check"] else None
    built.save(out, checks=checks)
    for note in built.notes:
        _say(quiet, f"note: {note}")
    passed = True
    for engine, found in (checks or {"engines": {}})["engines"].items():
        passed &= found["passed"]
        _say(quiet, f"{engine}: deepest overlap {found['penetration_end_mm']:.3f} mm, moves "
                    f"{found['moved_mm']:.2f} mm in {found['seconds']:g} s")  # fmt: skip
        for problem in found["problems"]:
            click.echo(f"{engine}: {problem}", err=True)
    click.echo(f"{out}: {len(built.items)} objects of {len(built.assets)} assets"
               + ("" if passed else ", check failed"))  # fmt: skip
    return passed


def _build(layout: Path | None, config: Any, flags: dict[str, Any]) -> Scene:
    from seed3d.scene import Scene

    if layout is not None:
        return Scene.load(layout, config)
    if flags["clutter"]:
        built = Scene("clutter", config.seed)
        built.drop(_asset_folders(flags["clutter"]), flags["count"])
        return built
    from seed3d.image.load import decode, read_file
    from seed3d.scene.from_photo import scene_from_photo
    from seed3d.scene.segment import load_masks, load_segmenter

    path = flags["from_image"]
    masks = []
    if flags["masks"]:
        photo = decode(read_file(path), path.name, config.image)
        masks = load_masks(flags["masks"], photo.rgb.shape[:2])
    segmenter = load_segmenter(flags["segmenter"]) if flags["segmenter"] else None
    return scene_from_photo(
        path, masks=masks, boxes=[_box(text) for text in flags["boxes"]], segmenter=segmenter,
        config=config, fov_deg=flags["fov"], pitch_deg=flags["pitch"],
        camera_height_m=flags["camera_height"],
        layout_vlm=config.vlm if flags["vlm_layout"] else None,
    )  # fmt: skip


def _asset_folders(paths: tuple[Path, ...]) -> list[Path]:
    """Asset folders, or the asset folders inside the given ones, sorted."""
    found: list[Path] = []
    for path in paths:
        if (path / "report.json").is_file():
            found.append(path)
            continue
        inner = sorted(p.parent for p in path.glob("*/report.json"))
        if not inner:
            raise Seed3DError(f"{path}: got no asset folder; wanted one, or a folder of them")
        found += inner
    return found


def _box(text: str) -> tuple[float, float, float, float]:
    parts = text.replace(" ", "").split(",")
    try:
        left, top, right, bottom = (float(v) for v in parts)
    except ValueError as error:
        raise click.UsageError(f"--boxes {text}: wanted LEFT,TOP,RIGHT,BOTTOM in pixels") from error
    return left, top, right, bottom


def _say(quiet: bool, text: str) -> None:
    if not quiet:
        click.echo(text)

"""Scene to USD: a stage that references each asset's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.export.usd import FOLDER
from seed3d.scene.mjcf import asset_folder
from seed3d.scene.parts import GROUND, Pose, View

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene


def usd_scene(scene: Scene) -> bytes:
    """Return scene.usda. Z up, metres, kilograms; instances share their asset's prims."""
    from pxr import Gf, Kind, Sdf, Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(root.GetPrim())
    Usd.ModelAPI(root.GetPrim()).SetKind(Kind.Tokens.assembly)
    physics = UsdPhysics.Scene.Define(stage, "/World/physics")
    physics.CreateGravityDirectionAttr(Gf.Vec3f(0, 0, -1))
    physics.CreateGravityMagnitudeAttr(9.81)
    _surroundings(stage, scene)
    for name, view in scene.cameras.items():
        _camera(stage, name, view)
    _lights(stage, scene)
    references: dict[str, str] = {}
    for item in scene.items.values():
        asset = scene.assets[item.asset]
        prim = UsdGeom.Xform.Define(stage, f"/World/{item.name}")
        references[item.name] = f"./{asset_folder(item.asset)}/{FOLDER}/{asset.name}.usda"
        prim.GetPrim().SetInstanceable(True)
        _place(prim, item.pose)
        if item.fixed:
            UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim()).CreateRigidBodyEnabledAttr(False)
    # In a layer without a stage: nothing looks for the files, which aren't there yet.
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(stage.GetRootLayer().ExportToString())
    for name, path in references.items():
        prim_spec = layer.GetPrimAtPath(Sdf.Path(f"/World/{name}"))
        prim_spec.referenceList.Prepend(Sdf.Reference(path))
    return layer.ExportToString().encode()


def _place(prim: Any, pose: Pose) -> None:
    from pxr import Gf

    prim.AddTranslateOp().Set(Gf.Vec3d(*pose.position))
    w, x, y, z = pose.quaternion
    prim.AddOrientOp().Set(Gf.Quatf(w, x, y, z))


def _surroundings(stage: Any, scene: Scene) -> None:
    from pxr import Gf, UsdGeom, UsdPhysics

    if scene.ground is not None:
        plane = UsdGeom.Plane.Define(stage, f"/World/{GROUND}")
        plane.CreateAxisAttr(UsdGeom.Tokens.z)
        plane.CreateWidthAttr(20.0)
        plane.CreateLengthAttr(20.0)
        plane.CreateExtentAttr([Gf.Vec3f(-10, -10, 0), Gf.Vec3f(10, 10, 0)])
        plane.CreateDisplayColorAttr([Gf.Vec3f(*scene.ground.color)])
        UsdPhysics.CollisionAPI.Apply(plane.GetPrim())
    for block in scene.blocks.values():
        cube = UsdGeom.Cube.Define(stage, f"/World/{block.name}")
        cube.CreateSizeAttr(1.0)
        cube.CreateExtentAttr([Gf.Vec3f(-0.5, -0.5, -0.5), Gf.Vec3f(0.5, 0.5, 0.5)])
        cube.CreateDisplayColorAttr([Gf.Vec3f(*block.color)])
        _place(cube, block.pose)
        cube.AddScaleOp().Set(Gf.Vec3f(*block.size_m))
        UsdPhysics.CollisionAPI.Apply(cube.GetPrim())


def _camera(stage: Any, name: str, view: View) -> None:
    """USD cameras look along -Z, Y up."""
    from pxr import Gf, UsdGeom

    camera = UsdGeom.Camera.Define(stage, f"/World/cameras/{name}")
    camera.CreateHorizontalApertureAttr(24.0)
    camera.CreateVerticalApertureAttr(24.0)
    camera.CreateFocalLengthAttr(12.0 / float(np.tan(view.fov_rad / 2.0)))
    matrix = np.eye(4)  # USD's are of row vectors
    matrix[:3, :3], matrix[3, :3] = view.node_rotation.T, view.position
    camera.AddTransformOp().Set(Gf.Matrix4d(matrix))


def _lights(stage: Any, scene: Scene) -> None:
    from pxr import Gf, UsdLux

    dome = UsdLux.DomeLight.Define(stage, "/World/lights/sky")
    dome.CreateColorAttr(Gf.Vec3f(*scene.lighting.sky))
    dome.CreateIntensityAttr(1.0)
    for index, light in enumerate(scene.lighting.lights):
        distant = UsdLux.DistantLight.Define(stage, f"/World/lights/light_{index}")
        distant.CreateColorAttr(Gf.Vec3f(*light.color))
        distant.CreateIntensityAttr(float(np.pi))
        target = Gf.Vec3d(*(-light.direction).tolist())
        turn = Gf.Rotation(Gf.Vec3d(0, 0, -1), target)
        distant.AddOrientOp().Set(Gf.Quatf(turn.GetQuat()))

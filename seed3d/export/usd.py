"""Asset to USD: UsdPhysics rigid body, as NVIDIA's SimReady profile Robotics-Prop asks."""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.export.encode import float32
from seed3d.export.obj import TEXTURES, texture_files, texture_path
from seed3d.export.principal import principal_axes, quaternion
from seed3d.export.visual import visual_mesh
from seed3d.types import Asset, Mesh, Primitive, RigidBody

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom, UsdShade

FOLDER = "usd"
"""SimReady NP.005 wants <name>/<any folder>/<name>.usda."""
NO_DATE = "not recorded, so that the file is reproducible"


def usd_files(asset: Asset) -> dict[str, bytes]:
    """Return usd/<name>.usda and its textures. Z up, metres, kilograms.

    One rigid body `/<name>` with `visual`, `collision/hull_000 ...` (convex, purpose guide, so
    renderers skip them) and `looks`. Masses and points are float32, as the schemas define.
    """
    from pxr import Kind, Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, f"/{asset.name}")
    stage.SetDefaultPrim(root.GetPrim())
    Usd.ModelAPI(root.GetPrim()).SetKind(Kind.Tokens.component)
    stage.GetRootLayer().customLayerData = _metadata(asset)
    _rigid_body(root.GetPrim(), asset.body)
    looks = UsdGeom.Scope.Define(stage, f"/{asset.name}/looks").GetPath()
    look = _surface_material(stage, looks.AppendChild("surface"))
    contact = _contact_material(stage, looks.AppendChild("contact"), asset.body)
    _visual(stage, asset, look)
    UsdGeom.Xform.Define(stage, f"/{asset.name}/collision")
    for i, hull in enumerate(asset.collision.hulls):
        path, primitive = f"/{asset.name}/collision/hull_{i:03d}", asset.collision.primitive(i)
        prim = _hull(stage, path, hull) if primitive is None else _primitive(stage, path, primitive)
        _collides(prim, contact)
    text = stage.GetRootLayer().ExportToString()
    # SimReady AA.001 wants every file a stage names below the stage's own folder.
    textures = {f"{FOLDER}/{path}": content for path, content in texture_files(asset).items()}
    return {f"{FOLDER}/{asset.name}.usda": text.encode(), **textures}


def _metadata(asset: Asset) -> dict[str, Any]:
    """SimReady SR.001 and NP.006."""
    from pxr import Gf

    source = PureWindowsPath(str(asset.inputs.get("file", asset.name))).name  # knows / and \\
    shared = {
        "asset_name": asset.name,
        "asset_type": "prop",
        "source_file": source.encode("utf-8", "replace").decode(),
        "usd_date_generated": NO_DATE,
    }
    facts = {
        "rigid_body_count": 1,
        "mass": float(asset.body.mass_kg),
        "asset_extents": Gf.Vec3f(*np.ptp(float32(asset.mesh.vertices), axis=0).tolist()),
    }
    return {**shared, "SimReady_Metadata": {**shared, **facts}}


def _rigid_body(prim: Usd.Prim, body: RigidBody) -> None:
    from pxr import Gf, UsdPhysics

    UsdPhysics.RigidBodyAPI.Apply(prim)
    mass = UsdPhysics.MassAPI.Apply(prim)
    moments, (w, *xyz) = principal_axes(body.inertia_kg_m2)
    mass.CreateMassAttr(float(body.mass_kg))
    mass.CreateCenterOfMassAttr(Gf.Vec3f(*float32(body.com_m).tolist()))
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*_valid_in_float32(moments).tolist()))
    mass.CreatePrincipalAxesAttr(Gf.Quatf(w, *xyz))


def _valid_in_float32(moments: np.ndarray) -> np.ndarray:
    """Round so that the largest moment stays at most the sum of the others (thin plates)."""
    rounded = float32(moments)
    largest = int(np.argmax(rounded))
    others = float(rounded.astype(np.float64).sum() - rounded[largest])
    while float(rounded[largest]) > others:
        rounded[largest] = np.nextafter(rounded[largest], np.float32(0.0))
    return rounded


def _visual(stage: Usd.Stage, asset: Asset, look: UsdShade.Material) -> None:
    from pxr import Sdf, UsdGeom, UsdShade

    data = visual_mesh(asset)
    mesh = _mesh(stage, f"/{asset.name}/visual", data.points, data.faces)
    mesh.CreateNormalsAttr(_vectors(data.normals[data.normal_faces.ravel()]))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying)
    primvars = UsdGeom.PrimvarsAPI(mesh)
    st = primvars.CreatePrimvar(
        "st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying
    )
    st.Set(_vectors(data.uv))
    st.SetIndices(_integers(data.uv_faces))
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(look)


def _hull(stage: Usd.Stage, path: str, hull: Mesh) -> Usd.Prim:
    from pxr import UsdGeom, UsdPhysics

    points = float32(hull.vertices)
    mesh = _mesh(stage, path, points, hull.faces)
    corners = points.astype(np.float64)[hull.faces]  # (F, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    flat = np.where(length > 0, normals / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    mesh.CreateNormalsAttr(_vectors(np.round(flat, 7)))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.uniform)
    shape = UsdPhysics.MeshCollisionAPI.Apply(mesh.GetPrim())
    shape.CreateApproximationAttr(UsdPhysics.Tokens.convexHull)
    return mesh.GetPrim()


def _primitive(stage: Usd.Stage, path: str, primitive: Primitive) -> Usd.Prim:
    from pxr import Gf, UsdGeom

    size = primitive.size_m
    if primitive.kind == "box":  # a cube of edge 1, scaled
        shape = UsdGeom.Cube.Define(stage, path)
        shape.CreateSizeAttr(1.0)
        half = np.full(3, 0.5)
    elif primitive.kind == "sphere":
        shape = UsdGeom.Sphere.Define(stage, path)
        half = np.full(3, size[0])
    else:
        kinds = {"cylinder": UsdGeom.Cylinder, "capsule": UsdGeom.Capsule}
        shape = kinds[primitive.kind].Define(stage, path)
        shape.CreateAxisAttr(UsdGeom.Tokens.z)
        shape.CreateHeightAttr(float(size[1]))
        cap = size[0] if primitive.kind == "capsule" else 0.0
        half = np.array([size[0], size[0], size[1] / 2.0 + cap])
    if primitive.kind != "box":
        shape.CreateRadiusAttr(float(size[0]))
    shape.CreateExtentAttr(_vectors(np.stack([-half, half])))
    w, *xyz = quaternion(primitive.rotation)
    shape.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*primitive.center_m))
    shape.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, *xyz))
    if primitive.kind == "box":
        shape.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*size))
    return shape.GetPrim()


def _collides(prim: Usd.Prim, contact: UsdShade.Material) -> None:
    from pxr import UsdGeom, UsdPhysics, UsdShade

    UsdGeom.Imageable(prim).CreatePurposeAttr(UsdGeom.Tokens.guide)
    UsdPhysics.CollisionAPI.Apply(prim)
    binding = UsdShade.MaterialBindingAPI.Apply(prim)
    binding.Bind(contact, UsdShade.Tokens.weakerThanDescendants, "physics")


def _mesh(stage: Usd.Stage, path: str, points: np.ndarray, faces: np.ndarray) -> UsdGeom.Mesh:
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(_vectors(points))
    mesh.CreateFaceVertexCountsAttr(_integers(np.full(len(faces), 3)))
    mesh.CreateFaceVertexIndicesAttr(_integers(faces))
    mesh.CreateExtentAttr(_vectors(np.stack([points.min(axis=0), points.max(axis=0)])))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    return mesh


def _contact_material(stage: Usd.Stage, path: Any, body: RigidBody) -> UsdShade.Material:
    from pxr import UsdPhysics, UsdShade

    material = UsdShade.Material.Define(stage, path)
    physics = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    physics.CreateStaticFrictionAttr(float(body.friction))
    physics.CreateDynamicFrictionAttr(float(body.friction))
    physics.CreateRestitutionAttr(float(body.restitution))
    return material


def _surface_material(stage: Usd.Stage, path: Any) -> UsdShade.Material:
    """UsdPreviewSurface with three textures (UsdPreviewSurface specification 2.6)."""
    from pxr import Gf, Sdf, UsdShade

    types = Sdf.ValueTypeNames
    material = UsdShade.Material.Define(stage, path)
    surface = _shader(stage, path.AppendChild("preview"), "UsdPreviewSurface")
    coordinates = _shader(stage, path.AppendChild("st"), "UsdPrimvarReader_float2")
    coordinates.CreateInput("varname", types.String).Set("st")
    st = coordinates.CreateOutput("result", types.Float2)
    textures = {}
    for kind in TEXTURES:
        texture = _shader(stage, path.AppendChild(kind), "UsdUVTexture")
        texture.CreateInput("file", types.Asset).Set(f"./{texture_path(kind)}")
        texture.CreateInput("st", types.Float2).ConnectToSource(st)
        space = "sRGB" if kind == "base_color" else "raw"
        texture.CreateInput("sourceColorSpace", types.Token).Set(space)
        textures[kind] = texture
    textures["normal"].CreateInput("scale", types.Float4).Set(Gf.Vec4f(2, 2, 2, 1))
    textures["normal"].CreateInput("bias", types.Float4).Set(Gf.Vec4f(-1, -1, -1, 0))
    links = (
        ("diffuseColor", types.Color3f, "base_color", "rgb", types.Float3),
        ("roughness", types.Float, "metallic_roughness", "g", types.Float),
        ("metallic", types.Float, "metallic_roughness", "b", types.Float),
        ("normal", types.Normal3f, "normal", "rgb", types.Float3),
    )
    for name, input_type, kind, channel, output_type in links:
        output = textures[kind].CreateOutput(channel, output_type)
        surface.CreateInput(name, input_type).ConnectToSource(output)
    result = surface.CreateOutput("surface", types.Token)
    material.CreateSurfaceOutput().ConnectToSource(result)
    return material


def _shader(stage: Usd.Stage, path: Any, kind: str) -> UsdShade.Shader:
    from pxr import UsdShade

    shader = UsdShade.Shader.Define(stage, path)
    shader.CreateIdAttr(kind)
    return shader


def _vectors(values: np.ndarray) -> Any:
    from pxr import Vt

    kind = Vt.Vec3fArray if values.shape[1] == 3 else Vt.Vec2fArray
    return kind.FromNumpy(np.ascontiguousarray(float32(values)))


def _integers(values: np.ndarray) -> Any:
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(values.ravel(), np.int32))

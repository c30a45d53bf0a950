"""The furniture libraries of the Debian package sweethome3d-furniture as training objects.

About 820 models with true dimensions: CC0 and CC-BY 3.0, credits in checkpoints/README.md. The
package's ``.sh3f`` files are zip archives of OBJ + MTL + textures with a catalogue in latin-1.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seed3d.errors import InputError

LICENCES = {
    "BlendSwap-CC-0": "CC0-1.0",
    "BlendSwap-CC-BY": "CC-BY-3.0",
    "KatorLegaz": "CC-BY-3.0",
    "Reallusion": "CC-BY-3.0",
    "Scopia": "CC-BY-3.0",
}

# Left out: people, openings, things of a building or a landscape, flat cards and sets of objects.
_DROP_CATEGORIES = {"Characters", "Doors and windows", "Staircases"}
_DROP_WORDS = (
    "arrow|parking|crossing|railing|rug|carpet|doormat|bathmat|tatami|curtain|bill |newspaper|"
    "pine|palm|poplar|cypress|maple|beech|acacia|bush|hedge|bamboo|coconut|tree|peach|sidewalk|"
    "swimming|door|window|living room|elevator|escalator|garage|rails|fence|female|male\\b|boy|"
    "girl|mannequin|wire|blind|shutter|hut|staircase|emergency sign|calendar|towel\\b|jacuzzi|"
    "card game|letter tray|sandpit|puzzle|switch|plug$|socket"
)

# The first that matches a model's name is its category (rows of configs/categories.yaml).
_CATEGORY_WORDS = (
    ("bed", "\\bbed\\b|futon|crib|mezzanine"),
    ("bedside_table", "bedside|nightstand"),
    ("sofa", "sofa|couch"),
    ("armchair", "armchair|relax chair|lounge"),
    ("stool", "stool|ottoman|puff"),
    ("chair", "chair|class seat"),
    ("bench", "bench"),
    ("desk", "desk(?! lamp)|workbench"),
    ("lamp", "lamp|light|lantern|chandelier|spotlight"),
    ("table", "table(?! fan| tennis bat|t\\b)|island|trestle"),
    ("shelf", "shel(f|ves)|bookcase|rack\\b|spice tower"),
    ("cabinet", "cabinet|wardrobe|dresser|cupboard|chest|locker|vanity|filing|safe"),
    ("appliance", "oven|fridge|refriger|washing|dryer|microwave|cooker|stove|toaster|coffee ma|"
                  "coffee b|coffee p|blender|mixer|freezer|grinder|kettle|boiler|heater|fryer|hood"),
    ("mug", "mug|coffee cup|\\bcup$"),
    ("glass", "glass$|plastic cup"),
    ("bottle", "bottle|flacon|soap|milk"),
    ("bowl", "bowl|\\bbasin|ashtray|hashtray"),
    ("vase", "vase|pottery|jar|\\bpot\\b"),
    ("plate", "plate|tray"),
    ("pan", "\\bpan\\b"),
    ("box", "box|crate|gift|trunck|suitcase|briefcase"),
    ("book", "book"),
    ("bin", "bin$|trash|barrel|basket$"),
    ("electronics", "tv|screen|laptop|phone|imac|ibook|stereo|speaker|radio|keyboard|camera|"
                    "tablet|player|amplifier|projector|mp3|playstation|joystick|printer"),
    ("plant", "plant|flower|cactus|ficus|orchid|tulip|bonsai|yucca|lily|succulent|spathi"),
    ("tool", "hammer|screwdriver|pliers|saw|drill|tool|scissors|knife|fork|spoon|stapler|brush|"
             "broom|shovel|tape|comb|flashlight|pencil|marker|squeezer|bat\\b|racket"),
    ("ball", "ball$"),
    ("toy", "toy|doll|teddy|car model|rocking|rabbit|rubik"),
    ("vehicle", "car\\b|bus\\b|van\\b|truck|bike|bicycle|scooter|suv|sedan|ford|peugeot|renault|"
                "chevrolet|seat leon|vw |motorbike|yamaha|smart|tricycle|biplane|rowboat"),
    ("bathroom", "bath|bidet|toilet|sink|urinal|washbasin|lavatory|shower"),
)  # fmt: skip


@dataclass(frozen=True)
class CatalogueEntry:
    """One model of a library, not yet loaded."""

    key: str
    """Unique id: library and number."""
    name: str
    category: str
    """Row of configs/categories.yaml, or "unknown"."""
    group: str
    """Creator and name family: models of one group never stand on both sides of the split."""
    creator: str
    licence: str
    size_m: tuple[float, float, float]
    """Extents along x (depth, front), y (width), z (height) [m]."""
    library: Path
    model: str
    """Path of the OBJ inside the archive."""
    rotation: np.ndarray | None
    """(3, 3) in the OBJ's Y-up frame, or None."""


def read_catalogue(library: Path) -> list[CatalogueEntry]:
    """Read one .sh3f archive's catalogue, without what the filter drops.

    Raises:
        InputError: The file is no furniture library.
    """
    try:
        with zipfile.ZipFile(library) as archive:
            text = archive.read("PluginFurnitureCatalog.properties").decode("latin-1")
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise InputError(f"{library}: not a furniture library ({error}); wanted .sh3f") from error
    rows: dict[int, dict[str, str]] = {}
    for line in text.splitlines():
        match = re.match(r"(\w+)#(\d+)=(.*)", line)
        if match:
            rows.setdefault(int(match[2]), {})[match[1]] = match[3]
    return [_entry(library, number, row) for number, row in sorted(rows.items()) if _keep(row)]


def _keep(row: dict[str, str]) -> bool:
    name = row["name"].lower()
    return row["category"] not in _DROP_CATEGORIES and not re.search(_DROP_WORDS, name)


def _entry(library: Path, number: int, row: dict[str, str]) -> CatalogueEntry:
    name = row["name"].encode("latin-1").decode("unicode_escape", errors="replace")
    family = re.sub(r"[^a-z ]", "", name.lower()).strip().split()
    rotation = None
    if "modelRotation" in row:
        rotation = np.array([float(v) for v in row["modelRotation"].split()]).reshape(3, 3)
    return CatalogueEntry(
        key=f"{library.stem}_{number:03d}",
        name=name,
        category=category_of(name),
        group=f"{row['creator']}/{family[-1] if family else name}",
        creator=row["creator"],
        licence=LICENCES.get(library.stem, "unknown"),
        size_m=tuple(float(row[k]) / 100 for k in ("depth", "width", "height")),  # type: ignore[arg-type]
        library=library,
        model=row["model"].lstrip("/"),
        rotation=rotation,
    )


def category_of(name: str) -> str:
    """Category of a model by the words of its name, or "unknown"."""
    for category, words in _CATEGORY_WORDS:
        if re.search(words, name.lower()):
            return category
    return "unknown"


def extract_model(entry: CatalogueEntry, folder: Path) -> Path:
    """Unpack the OBJ's folder of an entry below `folder`; return the path of the OBJ."""
    inside = str(Path(entry.model).parent) + "/"
    root = folder / entry.library.stem
    with zipfile.ZipFile(entry.library) as archive:
        for member in archive.namelist():
            if member.startswith(inside) and ".." not in Path(member).parts:
                archive.extract(member, root)
    return root / entry.model


def catalogue(folder: Path) -> Iterator[CatalogueEntry]:
    """All entries of every .sh3f below `folder`, in a stable order."""
    libraries = sorted(folder.glob("*.sh3f"))
    if not libraries:
        raise InputError(
            f"{folder}: no .sh3f library; install Debian's sweethome3d-furniture, or name the "
            "folder that holds its libraries"
        )
    for library in libraries:
        yield from read_catalogue(library)

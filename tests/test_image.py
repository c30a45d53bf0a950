"""Photo to subject: masks, crops and colours against scenes drawn with known truth."""

import io

import numpy as np
import pytest
import torch
from PIL import Image
from skimage import data as photos
from skimage.transform import resize

from seed3d.config import ImageConfig
from seed3d.errors import ConfigError, InputError, StageError
from seed3d.image import mask as masks
from seed3d.image.encoder import SamePadConv, features, load_encoder
from seed3d.image.load import Photo
from seed3d.image.prepare import composite_on_white, prepare
from seed3d.image.u2net import object_probability

COLOR = np.array([40, 120, 200])


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def disc(height, width, x, y, radius):
    """Coverage (H, W) in [0, 1] of a disc, with an antialiased edge one pixel wide."""
    rows, columns = np.mgrid[:height, :width] + 0.5
    return np.clip(radius + 0.5 - np.hypot(columns - x, rows - y), 0.0, 1.0)


def rgba(coverage, hidden=0.0, premultiplied=False):
    """A COLOR object with alpha; `hidden` is stored where alpha is 0."""
    color = np.broadcast_to(COLOR, (*coverage.shape, 3))
    color = color * coverage[..., None] if premultiplied else color
    color = np.where(coverage[..., None] > 0, color, hidden)
    return np.dstack([np.rint(color), np.rint(coverage * 255)])


def iou(a, b):
    return (a & b).sum() / (a | b).sum()


def segmenter_sees(monkeypatch, result):
    """Replace the network by a function of the image, and return the list of its inputs."""
    seen = []

    def fake(rgb):
        seen.append(rgb)
        return result(rgb)

    monkeypatch.setattr("seed3d.image.u2net.object_mask", fake)
    return seen


def blank(rgb):
    return np.zeros(rgb.shape[:2], np.uint8)


def test_crop_is_square_centred_and_padded():
    subject = prepare(png(rgba(disc(300, 400, 250, 120, 60))), ImageConfig(size=256, padding=0.1))
    assert subject.rgb.shape == (256, 256, 3)
    assert subject.mask_source == "alpha"
    assert subject.fallbacks == ()
    rows, columns = np.nonzero(subject.mask > 0.5)
    # Diameter 120 px fills 80 % of the side: radius 102.4 px around the centre.
    assert abs(columns.mean() + 0.5 - 128) < 1.5
    assert abs(rows.mean() + 0.5 - 128) < 1.5
    assert abs(np.sqrt(len(rows) / np.pi) - 102.4) < 1.5
    expected = COLOR / 255 * subject.mask[..., None] + 1 - subject.mask[..., None]
    assert np.abs(subject.rgb - expected).max() < 1.5 / 255


def test_hidden_colours_never_reach_the_result():
    coverage = disc(200, 200, 100, 100, 60)
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3)) * [1, 0, 1]
    clean, noisy = prepare(png(rgba(coverage))), prepare(png(rgba(coverage, hidden=noise)))
    assert noisy.rgb.tobytes() == clean.rgb.tobytes()
    assert noisy.mask.tobytes() == clean.mask.tobytes()


def test_hidden_colours_never_reach_the_network(monkeypatch):
    coverage = disc(200, 200, 100, 100, 60)
    seen = segmenter_sees(monkeypatch, lambda rgb: np.full(rgb.shape[:2], 255, np.uint8))
    image = png(rgba(coverage, hidden=np.array([255, 0, 255])))
    subject = prepare(image, ImageConfig(mask="model"))
    assert (seen[0][coverage == 0] == 255).all()
    assert subject.mask_source == "model"


def test_premultiplied_edges_leave_no_dark_halo():
    soft = np.clip((64 - np.hypot(*(np.mgrid[:200, :200] - 99.5))) / 4, 0, 1)  # 4 px wide
    subject = prepare(png(rgba(soft, premultiplied=True)))
    # Any mix of the colour with white is at least as bright as the colour; black would show.
    assert (subject.rgb >= COLOR / 255 - 0.01).all()
    expected = COLOR / 255 * subject.mask[..., None] + 1 - subject.mask[..., None]
    assert np.abs(subject.rgb - expected).max() < 0.03


def test_old_background_leaves_no_halo():
    coverage = disc(300, 300, 150, 150, 90)[..., None]
    image = COLOR * coverage + np.array([0, 255, 0]) * (1 - coverage)
    subject = prepare(png(image), mask=coverage[..., 0])
    expected = COLOR / 255 * subject.mask[..., None] + 1 - subject.mask[..., None]
    assert subject.mask_source == "user"
    assert np.abs(subject.rgb - expected).max() < 0.05


def test_translucent_inside_keeps_its_colour():
    coverage = np.zeros((256, 256))
    coverage[40:216, 40:216] = 1.0
    coverage[80:176, 80:176] = 0.5  # a window of glass, blue in a red frame
    rgb = np.where((coverage == 0.5)[..., None], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    result = composite_on_white(rgb, coverage)
    assert np.allclose(result[128, 128], [0.5, 0.5, 1.0])
    assert np.allclose(result[60, 128], [1.0, 0.0, 0.0])


def test_user_mask_wins_and_is_checked():
    image = png(rgba(disc(200, 300, 100, 100, 60)))
    half = np.zeros((200, 300), bool)
    half[:, :100] = True
    subject = prepare(image, mask=half)
    assert subject.mask_source == "user"
    columns = np.flatnonzero((subject.mask > 0.5).any(axis=0))
    rows = np.flatnonzero((subject.mask > 0.5).any(axis=1))
    assert abs(len(columns) / len(rows) - 0.5) < 0.01
    with pytest.raises(InputError, match=r"mask of shape \(300, 200\); wanted \(200, 300\)"):
        prepare(image, mask=half.T)
    with pytest.raises(StageError, match="the given mask is empty"):
        prepare(image, mask=np.zeros((200, 300)))
    with pytest.raises(InputError, match=r"mask values outside 0\.\.1"):
        prepare(image, mask=np.full((200, 300), 7.0))


def test_fully_transparent_and_alpha_asked_for_in_vain():
    with pytest.raises(StageError, match="no object found: the whole image is transparent"):
        prepare(png(rgba(np.zeros((64, 64)))), name="ghost.png")
    with pytest.raises(InputError, match=r"mask 'alpha' was asked for, but 0\.0% of the image"):
        prepare(png(np.full((64, 64, 3), 9)), ImageConfig(mask="alpha"))


def test_opaque_alpha_channel_means_nothing(monkeypatch):
    segmenter_sees(monkeypatch, lambda rgb: (disc(200, 200, 100, 100, 50) * 255).astype(np.uint8))
    subject = prepare(png(np.dstack([np.full((200, 200, 3), 90), np.full((200, 200), 255)])))
    assert subject.mask_source == "model"


def test_all_white_image_has_no_object():
    with pytest.raises(StageError, match=r"paper\.png: no object found: .*pass a mask"):
        prepare(png(np.full((64, 64, 3), 255)), name="paper.png")


def test_border_colour_rule_when_the_network_finds_nothing(monkeypatch):
    segmenter_sees(monkeypatch, blank)
    coverage = disc(240, 320, 170, 110, 70)[..., None]
    noise = np.random.default_rng(0).normal(0, 2, (240, 320, 3))
    subject = prepare(png(np.clip(COLOR * coverage + 180 * (1 - coverage) + noise, 0, 255)))
    assert subject.mask_source == "border"
    assert "separated by the uniform colour of the border" in subject.fallbacks[0].what
    rows, columns = np.mgrid[:512, :512] - 255.5
    truth = np.hypot(rows, columns) < 0.4 * 512
    assert iou(subject.mask > 0.5, truth) > 0.97


def test_busy_border_and_no_network_result_is_an_error(monkeypatch):
    segmenter_sees(monkeypatch, blank)
    noise = np.random.default_rng(0).integers(0, 256, (100, 100, 3))
    with pytest.raises(StageError, match=r"marked 0\.0% .* the border has no uniform colour"):
        prepare(png(noise))


def test_undecided_network_is_reported(monkeypatch):
    segmenter_sees(monkeypatch, lambda rgb: (disc(100, 100, 50, 50, 30) * 150).astype(np.uint8))
    noise = np.random.default_rng(0).integers(0, 256, (100, 100, 3))
    subject = prepare(png(noise))
    assert subject.mask_source == "model"
    assert "the segmentation model is undecided about 103% of" in subject.fallbacks[0].what


def test_specks_are_dropped_and_real_parts_kept():
    mask = np.zeros((200, 200), np.uint8)
    mask[20:120, 20:120] = 255
    mask[150:190, 150:190] = 255  # 16 % of the large part
    mask[5:9, 180:184] = 255  # a speck
    mask[60:63, 60:63] = 0  # a pin hole
    mask[80:110, 80:110] = 0  # a real hole: the inside of a handle
    expected = mask.copy()
    expected[5:9, 180:184] = 0
    expected[60:63, 60:63] = 255
    assert np.array_equal(masks.clean(mask, 128, 0.05, 0.005), expected)


@pytest.mark.parametrize(
    ("x", "y", "radius", "edges"),
    [(40, 100, 60, ("left",)), (250, 150, 60, ("right", "bottom")), (150, 100, 60, ())],
)
def test_object_cut_by_the_photo_is_reported(x, y, radius, edges):
    subject = prepare(png(rgba(disc(200, 300, x, y, radius))), name="cut.png")
    notes = [f.what for f in subject.fallbacks]
    wanted = [f"the object in cut.png runs out of the photo ({', '.join(edges)})"] if edges else []
    assert [n.split(";")[0] for n in notes] == wanted


def test_trimmed_cut_out_is_not_cut():
    assert prepare(png(rgba(disc(200, 200, 100, 100, 100)))).fallbacks == ()


def test_tiny_object_is_reported():
    subject = prepare(png(rgba(disc(200, 200, 100, 100, 20))))
    assert "is only 40 pixels across" in subject.fallbacks[0].what


@pytest.mark.parametrize(
    ("options", "message"),
    [({"padding": 0.5}, r"image\.padding: got 0\.5"), ({"size": 8}, r"image\.size: got 8")],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ConfigError, match=message):
        prepare(png(rgba(disc(64, 64, 32, 32, 20))), ImageConfig(**options))


def test_file_and_bytes_agree(tmp_path):
    data = png(rgba(disc(200, 200, 100, 100, 60)))
    (tmp_path / "a.png").write_bytes(data)
    a, b = prepare(tmp_path / "a.png"), prepare(data)
    assert a.rgb.tobytes() == b.rgb.tobytes()


def test_object_on_a_photo_is_segmented_and_repeatable():
    """A shaded ball pasted on a photograph that has its own clutter."""
    background = Image.fromarray(photos.stereo_motorcycle()[0]).resize((480, 360))
    coverage = disc(360, 480, 260, 200, 110)
    rows, columns = (np.mgrid[:360, :480] + 0.5 - np.array([200, 260])[:, None, None]) / 110
    height = np.sqrt(np.clip(1 - rows**2 - columns**2, 0, 1))
    shade = np.clip(0.55 + 0.7 * (0.6 * height - 0.5 * rows - 0.4 * columns), 0, 1)[..., None]
    image = np.array([60, 120, 210]) * shade * coverage[..., None]
    image = image + np.asarray(background) * (1 - coverage[..., None])
    found = masks.find_mask(Photo(image.astype(np.uint8), None), ImageConfig())
    assert found.source == "model"
    assert iou(found.mask > 127, coverage > 0.5) > 0.95
    again = masks.find_mask(Photo(image.astype(np.uint8), None), ImageConfig())
    assert again.mask.tobytes() == found.mask.tobytes()


def test_segmentation_equals_the_published_onnx_graph():
    """Means of 64 x 64 blocks, from u2netp.onnx in onnxruntime 1.32 on the same input."""
    truth = [
        [0.0002, 0.2636, 0.7147, 0.1307, 0.0000],
        [0.1048, 0.9556, 1.0000, 0.6345, 0.0000],
        [0.3453, 0.9997, 1.0000, 0.9525, 0.0007],
        [0.2186, 0.9997, 0.9997, 0.8920, 0.0002],
        [0.0005, 0.5278, 0.8475, 0.3126, 0.0000],
    ]
    blocks = object_probability(photos.coffee()).reshape(5, 64, 5, 64).mean(axis=(1, 3))
    assert np.abs(blocks - truth).max() < 1e-3


def square(photo, side=224):
    height, width = photo.shape[:2]
    short = min(height, width)
    top, left = (height - short) // 2, (width - short) // 2
    crop = resize(photo[top : top + short, left : left + short], (side, side), anti_aliasing=True)
    return torch.from_numpy(crop.astype(np.float32)).permute(2, 0, 1)[None]


def test_encoder_names_what_photos_show():
    with torch.no_grad():
        coffee = load_encoder()(square(photos.coffee())).softmax(1)[0]
        cat = load_encoder()(square(photos.chelsea())).softmax(1)[0]
    assert coffee[967] > 0.9  # espresso
    assert cat[[281, 282, 285]].sum() > 0.8  # tabby, tiger cat, Egyptian cat


def test_encoder_shapes_and_independence_of_the_batch():
    a, b = square(photos.coffee(), 160), square(photos.chelsea(), 160)
    both, alone = features(torch.cat([a, b])), features(b)
    shapes = [(40, 20, 20), (112, 10, 10), (320, 5, 5), (1280,)]
    assert [tuple(f.shape[1:]) for f in both] == shapes
    for batched, single in zip(both, alone, strict=True):
        assert torch.allclose(batched[1:], single, atol=1e-3)
    assert features(torch.zeros(1, 3, 97, 130)).stride8.shape == (1, 40, 13, 17)
    with pytest.raises(ValueError, match=r"got shape \(3, 8, 8\); wanted \(N, 3, H, W\)"):
        features(torch.zeros(3, 8, 8))


def test_same_padding_is_tensorflows():
    conv = SamePadConv(1, 1, 3, 2, bias=False)
    torch.nn.init.ones_(conv.weight)
    ramp = torch.arange(6.0).expand(1, 1, 6, 6)
    # Even side, stride 2: windows start at 0, 2, 4 and only the right and bottom are padded.
    sums = conv(ramp)[0, 0, 0] / 3
    assert sums.tolist() == [0 + 1 + 2, 2 + 3 + 4, 4 + 5]

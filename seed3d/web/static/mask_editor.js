// Mask editor: the photo with its background dimmed; keep and erase strokes change the mask.
// value: {image, mask: data URLs, note, strokes: [{keep, width, points: [[x, y], ...]}]}, strokes in
// shares of the photo, as seed3d.web.masks.edited_mask reads them. Listeners stand on `element`, so
// they outlive a new rendering of the template.
const state = { image: null, mask: null, url: null, strokes: [], current: null, keep: true, size: 0.06 };
const find = (selector) => element.querySelector(selector);

function loadImage(url) {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = failed;
    image.src = url;
  });
}

async function receive() {
  const value = props.value;
  if (!value || !value.image) {
    state.image = state.url = null;
    show();
    return;
  }
  if (value.image !== state.url) {
    state.url = value.image;
    [state.image, state.mask] = await Promise.all([loadImage(value.image), loadImage(value.mask)]);
    state.strokes = value.strokes || [];
  }
  show();
}

function show() {
  const box = find(".mask-box");
  if (!box) return;
  box.classList.toggle("empty", !state.image);
  find(".mask-note").textContent = (props.value && props.value.note) || "";
  for (const button of element.querySelectorAll("[data-brush]")) {
    button.classList.toggle("on", (button.dataset.brush === "keep") === state.keep);
  }
  if (state.image) draw();
}

function draw() {
  const canvas = find("canvas");
  const width = state.image.naturalWidth, height = state.image.naturalHeight;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const hole = layer(width, height);
  const pen = hole.getContext("2d");
  const strokes = state.current ? [...state.strokes, state.current] : state.strokes;
  if (!strokes.some((stroke) => stroke.clear)) pen.drawImage(state.mask, 0, 0, width, height);
  for (const stroke of strokes) if (!stroke.clear) line(pen, stroke, width, height);
  const tint = layer(width, height);
  const over = tint.getContext("2d");
  over.fillStyle = "rgba(15, 23, 42, 0.72)";
  over.fillRect(0, 0, width, height);
  over.globalCompositeOperation = "destination-out";
  over.drawImage(hole, 0, 0);
  const context = canvas.getContext("2d");
  context.drawImage(state.image, 0, 0);
  context.drawImage(tint, 0, 0);
}

function line(pen, stroke, width, height) {
  pen.globalCompositeOperation = stroke.keep ? "source-over" : "destination-out";
  pen.strokeStyle = pen.fillStyle = "#fff";
  pen.lineWidth = Math.max(stroke.width * width, 1);
  pen.lineCap = pen.lineJoin = "round";
  pen.beginPath();
  const [first, ...rest] = stroke.points.map(([x, y]) => [x * width, y * height]);
  pen.moveTo(...first);
  pen.lineTo(first[0] + 0.01, first[1]);
  for (const point of rest) pen.lineTo(...point);
  pen.stroke();
}

function layer(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

function at(event) {
  const box = find("canvas").getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

function publish() {
  props.value = { ...props.value, strokes: state.strokes };
  requestAnimationFrame(show);
}

element.addEventListener("pointerdown", (event) => {
  if (event.target.tagName !== "CANVAS" || !state.image) return;
  event.preventDefault();
  event.target.setPointerCapture(event.pointerId);
  state.current = { keep: state.keep, width: state.size, points: [at(event)] };
  draw();
});
element.addEventListener("pointermove", (event) => {
  if (!state.current) return;
  state.current.points.push(at(event));
  draw();
});
for (const name of ["pointerup", "pointercancel"]) {
  element.addEventListener(name, () => {
    if (!state.current) return;
    state.strokes = [...state.strokes, state.current];
    state.current = null;
    publish();
  });
}
element.addEventListener("input", (event) => {
  if (event.target.type === "range") state.size = Number(event.target.value);
});
element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.brush) {
    state.keep = button.dataset.brush === "keep";
    show();
  } else {
    const act = button.dataset.act;
    state.strokes = act === "undo" ? state.strokes.slice(0, -1) : act === "clear" ? [{ clear: true }] : [];
    publish();
  }
});
watch("value", receive);
receive();

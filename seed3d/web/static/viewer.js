// Interactive view of one asset (seed3d.web.viewer.view_data): WebGL 2, Z up.
const VERTEX = `#version 300 es
in vec4 position; in vec4 normal; in vec2 uv; in vec4 color;
uniform mat4 view; uniform vec3 low, size;
out vec3 n; out vec2 t; out vec4 c; out vec3 edge;
void main() {
  n = normal.xyz; t = uv; c = color;
  edge = vec3(gl_VertexID % 3 == 0, gl_VertexID % 3 == 1, gl_VertexID % 3 == 2);
  gl_Position = view * vec4(low + position.xyz * size, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 n; in vec2 t; in vec4 c; in vec3 edge;
uniform sampler2D map; uniform int mode; uniform vec3 eye;
out vec4 pixel;
void main() {
  vec3 base = mode == 0 ? texture(map, t).rgb : mode == 2 ? c.rgb : vec3(0.75);
  vec3 m = normalize(n);
  vec3 key = normalize(eye + vec3(0.4, -0.3, 1.0));
  float light = 0.5 + 0.2 * m.z + 0.45 * max(dot(m, key), 0.0);
  vec3 rgb = base * min(light, 1.15);
  if (mode == 3) {
    vec3 width = fwidth(edge);
    vec3 near = smoothstep(vec3(0.0), 1.4 * width, edge);
    rgb = mix(vec3(0.2, 0.22, 0.6), vec3(0.93), min(near.x, min(near.y, near.z)));
  }
  pixel = vec4(rgb, 1.0);
}`;
const MODES = ["Textured", "Plain", "Hulls", "Wireframe"];
const look = { azimuth: 0.6, elevation: 0.35, zoom: 1, mode: 0 };
const pointers = new Map();
let scene = null;

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function compile(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return program;
}

function upload(gl, program, part) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  const layout = { position: [4, gl.UNSIGNED_SHORT, true], normal: [4, gl.BYTE, true],
                   uv: [2, gl.FLOAT, false], color: [4, gl.UNSIGNED_BYTE, true] };
  for (const [name, [size, type, normalised]] of Object.entries(layout)) {
    const place = gl.getAttribLocation(program, name);
    if (place < 0 || !part[name]) continue;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, bytes(part[name]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, normalised, 0, 0);
  }
  return { array, count: part.count };
}

function receive() {
  const value = props.value;
  if (!value || !value.mesh) return;
  const canvas = element.querySelector("canvas");
  const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) {
    element.querySelector(".mask-note").textContent = "This browser has no WebGL 2, so there is no interactive view.";
    return;
  }
  const program = compile(gl);
  gl.useProgram(program);
  const low = value.low, size = value.high.map((v, i) => v - low[i]);
  const map = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, map);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array([190, 190, 190, 255]));
  scene = { gl, canvas, program, low, size, mesh: upload(gl, program, value.mesh), hulls: upload(gl, program, value.hulls) };
  const picture = new Image();
  picture.onload = () => {
    gl.bindTexture(gl.TEXTURE_2D, map);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    draw();
    canvas.dataset.ready = "yes";
  };
  picture.src = value.texture;
  draw();
}

function draw() {
  if (!scene) return;
  const { gl, canvas, program, low, size } = scene;
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.max(1, Math.round(canvas.clientWidth * scale));
  const height = Math.max(1, Math.round(canvas.clientHeight * scale));
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  gl.viewport(0, 0, width, height);
  gl.clearColor(0.95, 0.96, 0.98, 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  const [ce, se] = [Math.cos(look.elevation), Math.sin(look.elevation)];
  const eye = [ce * Math.cos(look.azimuth), ce * Math.sin(look.azimuth), se];
  gl.uniform3fv(gl.getUniformLocation(program, "low"), low);
  gl.uniform3fv(gl.getUniformLocation(program, "size"), size);
  gl.uniform3fv(gl.getUniformLocation(program, "eye"), eye);
  gl.uniform1i(gl.getUniformLocation(program, "mode"), look.mode);
  gl.uniformMatrix4fv(gl.getUniformLocation(program, "view"), false, camera(eye, width / height));
  const part = look.mode === 2 ? scene.hulls : scene.mesh;
  gl.bindVertexArray(part.array);
  gl.drawArrays(gl.TRIANGLES, 0, part.count);
}

function camera(eye, aspect) {
  const { low, size } = scene;
  const radius = Math.hypot(...size) / 2;
  const middle = low.map((v, i) => v + size[i] / 2);
  const tangent = 0.36 / Math.min(aspect, 1);
  const distance = (1.08 * radius / Math.sin(Math.atan(0.36))) / look.zoom;
  const right = [-Math.sin(look.azimuth), Math.cos(look.azimuth), 0];
  const up = [eye[1] * right[2] - eye[2] * right[1], eye[2] * right[0] - eye[0] * right[2], eye[0] * right[1] - eye[1] * right[0]];
  const near = Math.max(distance - 2 * radius, 0.02 * radius), far = distance + 2 * radius;
  const [fx, fy] = [1 / (tangent * aspect), 1 / tangent];
  const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
  const dot = (x, y) => x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
  const [r, u, z] = [-dot(right, middle), -dot(up, middle), -dot(eye, middle) - distance];
  return new Float32Array([
    fx * right[0], fy * up[0], a * eye[0], -eye[0],
    fx * right[1], fy * up[1], a * eye[1], -eye[1],
    fx * right[2], fy * up[2], a * eye[2], -eye[2],
    fx * r, fy * u, a * z + b, -z]);
}

element.addEventListener("pointerdown", (event) => {
  if (event.target.tagName !== "CANVAS") return;
  event.target.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
});
element.addEventListener("pointermove", (event) => {
  const old = pointers.get(event.pointerId);
  if (!old) return;
  const spread = () => { const [p, q] = [...pointers.values()]; return Math.hypot(p[0] - q[0], p[1] - q[1]); };
  const before = pointers.size === 2 ? spread() : 0;
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  if (pointers.size === 2) zoom(spread() / Math.max(before, 1));
  else {
    look.azimuth -= 0.01 * (event.clientX - old[0]);
    look.elevation = Math.min(1.5, Math.max(-1.5, look.elevation + 0.01 * (event.clientY - old[1])));
  }
  draw();
});
for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, (event) => pointers.delete(event.pointerId));
element.addEventListener("wheel", (event) => {
  if (event.target.tagName !== "CANVAS") return;
  event.preventDefault();
  zoom(Math.exp(-0.001 * event.deltaY));
  draw();
}, { passive: false });
element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-mode]");
  if (!button) return;
  look.mode = MODES.indexOf(button.dataset.mode);
  for (const other of element.querySelectorAll("[data-mode]")) other.classList.toggle("on", other === button);
  draw();
});
function zoom(factor) { look.zoom = Math.min(8, Math.max(0.4, look.zoom * factor)); }
new ResizeObserver(() => draw()).observe(element);
watch("value", receive);
receive();

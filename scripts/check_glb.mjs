// Check GLB files with the Khronos glTF validator (npm install gltf-validator, Apache-2.0).
// Usage: node scripts/check_glb.mjs FILE.glb ...      (NODE_PATH or ./node_modules holds it)
// Prints errors, warnings and infos of each file as JSON; exit code 1 if any file has an error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const validator = require("gltf-validator");
let failed = false;
const table = { validator: validator.version(), files: {} };
for (const path of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(path)), { uri: path });
  const { numErrors, numWarnings, numInfos, messages } = report.issues;
  table.files[path.split("/").pop()] = {
    errors: numErrors, warnings: numWarnings, infos: numInfos,
    codes: [...new Set(messages.map((m) => m.code))],
  };
  failed ||= numErrors > 0;
}
console.log(JSON.stringify(table, null, 1));
process.exitCode = failed ? 1 : 0;

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// npm run pictures: the pictures of docs/console.md, made by the browser tests that call `picture`.

const tests = join(dirname(fileURLToPath(import.meta.url)), "../test");
const folder = join(tests, "../../../docs/pictures");
const taking = readdirSync(tests)
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => /\bpicture\(/.test(readFileSync(join(tests, name), "utf8")));

mkdirSync(folder, { recursive: true });
for (const name of taking) {
  process.stderr.write(`pictures: ${name}\n`);
  // Without its runner a test ends after 30 s.
  const env = { ...process.env, COFFER_PICTURES: folder, TAP_TIMEOUT: "600" };
  const { status, stdout } = spawnSync(process.execPath, [join(tests, name)], { env, encoding: "utf8" });
  if (status === 0) continue;
  process.stderr.write(`pictures: ${name} failed:\n${stdout}`);
  process.exitCode = 1;
}

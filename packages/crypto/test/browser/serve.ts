import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { stripTypeScriptTypes } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../../../../", import.meta.url);
const allowed =
  /^(packages\/(contract|crypto|history|sdk|import)|node_modules\/(jose|@scure\/bip39|@serenity-kit\/opaque|csv-parse|@rgrove\/parse-xml|@zip\.js\/zip\.js)|docs\/spec\/vectors)\/[\w@./-]+$/;
const types: Record<string, string> = {
  ".json": "application/json",
  ".js": "text/javascript",
  ".ts": "text/javascript",
};

/** The exports of package.json, for a browser, which does not read them. */
const imports = {
  jose: "/node_modules/jose/dist/webapi/index.js",
  "@scure/bip39/wordlists/english.js": "/node_modules/@scure/bip39/wordlists/english.js",
  "@serenity-kit/opaque": "/node_modules/@serenity-kit/opaque/esm/index.js",
  "@coffer/contract": "/packages/contract/src/index.ts",
  "@coffer/crypto": "/packages/crypto/src/index.ts",
  "@coffer/crypto/opaque": "/packages/crypto/src/opaque.ts",
  "@coffer/history": "/packages/history/src/index.ts",
  "@coffer/import": "/packages/import/src/index.ts",
  "@rgrove/parse-xml": "/node_modules/@rgrove/parse-xml/dist/browser.js",
  "@zip.js/zip.js": "/node_modules/@zip.js/zip.js/index.js",
  "csv-parse/browser/esm/sync": "/node_modules/csv-parse/dist/esm/sync.js",
  "@coffer/sdk": "/packages/sdk/src/index.ts",
  "@coffer/sdk/account": "/packages/sdk/src/people/account.ts",
  "@coffer/sdk/browser": "/packages/sdk/src/browser/index.ts",
};
const page = `<!doctype html><meta charset="utf-8"><title>crypto</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>`;

/**
 * Serves the sources of this package and of the packages above it, with their dependencies, on a free
 * port of 127.0.0.1, where browsers have `crypto.subtle`. Types are stripped as Node strips them;
 * nothing is bundled, replaced or added.
 */
export async function serveSources(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").slice(1);
    if (path === "") {
      response.writeHead(200, { "content-type": "text/html" }).end(page);
      return;
    }
    source(path).then(
      (text) => response.writeHead(200, { "content-type": types[extname(path)] ?? "text/plain" }).end(text),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

async function source(path: string): Promise<string> {
  if (!allowed.test(path) || path.includes("..")) throw new Error("not served");
  const text = await readFile(fileURLToPath(new URL(path, root)), "utf8");
  return extname(path) === ".ts" ? stripTypeScriptTypes(text) : text;
}

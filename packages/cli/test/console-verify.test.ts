import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { coffer } from "./command.ts";
import { startStranger } from "./doctor/doctor.ts";

// The operator serves another console than that of the release: `coffer console verify` must see it.

const home = testDirectory(t);
const policy = "default-src 'none'; script-src 'self'; connect-src 'none'";
const contents: Readonly<Record<string, string>> = {
  "/": "<!doctype html>",
  "/account": "<!doctype html>",
  "/assets/page.A.js": "page()",
  "/assets/worker.B.js": "worker()",
};
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const headersOf = (path: string): Record<string, string> =>
  path.startsWith("/assets") ? { "X-Content-Type-Options": "nosniff" } : { "Content-Security-Policy": policy };
const fileOf = (path: string, kind: string): object => ({
  ...{ path: path.slice(1), kind, type: "text/plain", headers: headersOf(path) },
  sha256: { identity: hash(contents[path] ?? "") },
});
const manifest = join(home, "manifest.json");
writeFileSync(
  manifest,
  JSON.stringify({
    version: 2,
    sources: "0",
    pages: ["/", "/account"],
    files: [
      { ...fileOf("/", "page"), path: "index.html" },
      fileOf("/assets/page.A.js", "asset"),
      fileOf("/assets/worker.B.js", "worker"),
    ],
  }),
);

/** What a lie answers instead, for this path. */
type Lie = (path: string) => [status: number, body: string, headers?: OutgoingHttpHeaders] | undefined;

async function verify(t: { teardown(work: () => Promise<void>): void }, lie: Lie) {
  const seen = new Set<string | undefined>();
  const url = await startStranger(t, (request) => {
    seen.add(request.headers["user-agent"]);
    const path = request.url ?? "";
    const body = contents[path];
    return lie(path) ?? (body === undefined ? undefined : [200, body, headersOf(path)]);
  });
  const outcome = await coffer(home, ["console", "verify", "--url", url, "--manifest", manifest]);
  return { ...outcome, seen };
}

await t.test("what the manifest says is served: exit 0", async (t) => {
  const { code, stdout, seen } = await verify(t, () => undefined);
  t.equal(code, 0);
  t.match(stdout, /serves the console of this release: 4 answers/);
  t.same(
    [...seen].filter((agent) => !agent?.startsWith("Mozilla/5.0")),
    [],
    "it asks as a browser does",
  );
});

const headers = (path: string, more: OutgoingHttpHeaders): OutgoingHttpHeaders => ({ ...headersOf(path), ...more });
const only =
  (path: string, status: number, body: string | undefined, more: OutgoingHttpHeaders = {}): Lie =>
  (asked) =>
    asked === path ? [status, body ?? contents[path] ?? "", headers(path, more)] : undefined;

const lies: readonly (readonly [name: string, path: string, lie: Lie, said: RegExp])[] = [
  ["another worker", "/assets/worker.B.js", only("/assets/worker.B.js", 200, "steal()"), /other content/],
  ["another page at one of its paths", "/account", only("/account", 200, "<script>"), /other content/],
  ["a redirect", "/", only("/", 302, undefined, { location: "https://evil.example" }), /answered 302/],
  ["a missing file", "/assets/page.A.js", only("/assets/page.A.js", 404, undefined), /answered 404/],
  [
    "a weaker policy",
    "/",
    only("/", 200, undefined, { "Content-Security-Policy": policy.replace("'none'; script", "*; script") }),
    /another Content-Security-Policy: default-src \*/,
  ],
  ["a cookie", "/", only("/", 200, undefined, { "set-cookie": "a=b" }), /a header set-cookie/],
  ["a preload", "/", only("/", 200, undefined, { link: "</x.js>; rel=preload" }), /a header link/],
];
for (const [name, path, lie, said] of lies)
  await t.test(`${name} is found: exit 1`, async (t) => {
    const { code, stdout } = await verify(t, lie);
    t.equal(code, 1);
    const rows = stdout.trim().split("\n");
    t.equal(rows.length, 1);
    t.ok(rows[0]?.startsWith(path));
    t.match(rows[0], said);
  });

await t.test("without the headers of the manifest: exit 1", async (t) => {
  const { code, stdout } = await verify(t, (path) => [200, contents[path] ?? "", {}]);
  t.equal(code, 1);
  t.match(stdout, /no header Content-Security-Policy/);
});

await t.test("a file that is no manifest, a missing one, and no service are named", async (t) => {
  const wrong = join(home, "wrong.json");
  for (const text of [
    "",
    "{}",
    "[]",
    "null",
    '{"version":2,"pages":["/"],"files":[]}',
    '{"version":2,"pages":["/"],"files":[{}]}',
  ]) {
    writeFileSync(wrong, text);
    const { code, stderr } = await coffer(home, [
      "console",
      "verify",
      "--url",
      "http://127.0.0.1:1",
      "--manifest",
      wrong,
    ]);
    t.equal(code, 2, text);
    t.match(stderr, /is no manifest of a console/);
  }
  const none = await coffer(home, [
    "console",
    "verify",
    "--url",
    "http://127.0.0.1:1",
    "--manifest",
    join(home, "none"),
  ]);
  t.equal(none.code, 2);
  t.match(none.stderr, /cannot be read/);
  const away = await coffer(home, ["console", "verify", "--url", "http://127.0.0.1:1", "--manifest", manifest]);
  t.equal(away.code, 7);
});

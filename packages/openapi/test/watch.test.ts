import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDirectory, type TestScope } from "@coffer/testkit";
import t from "tap";
import { requireAsDescribed, watchedEnvironment } from "../src/index.ts";

/** Answers `GET /.well-known/jwks.json` with a status and body, requests it once, and exits. */
const program = `
  import { createServer } from "node:http";
  const [, , path, status, body] = process.argv;
  const server = createServer((request, response) => {
    response.writeHead(Number(status), [
      "X-Request-Id", "1", "Cache-Control", "no-store", "X-Content-Type-Options", "nosniff",
      "RateLimit", '"user";r=1;t=1', "RateLimit-Policy", '"user";q=1;w=1',
      "Content-Type", "application/json; charset=utf-8",
    ]);
    response.write(body.slice(0, 5));
    response.end(body.slice(5));
  });
  server.listen(0, "127.0.0.1", async () => {
    await (await fetch("http://127.0.0.1:" + server.address().port + path)).text();
    server.close();
    server.closeAllConnections();
  });
`;

const keys = JSON.stringify({
  keys: [{ kid: "1", kty: "EC", crv: "P-256", x: "x".repeat(43), y: "y".repeat(43), use: "sig", alg: "ES256" }],
  base_urls: ["https://coffer.test"],
});

/** Runs the program under this name, watched; throws its deviations. */
async function run(t: TestScope, name: string, ...args: [path: string, status: string, body: string]): Promise<void> {
  const directory = testDirectory(t);
  const file = join(directory, name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, program);
  const problems = join(directory, "problems");
  const env = { ...process.env, ...watchedEnvironment(problems) };
  await promisify(execFile)(process.execPath, [file, ...args], { env });
  requireAsDescribed(problems);
}

const service = "services/auth-sm/src/main.ts";
const path = "/.well-known/jwks.json";

await t.test("a service that matches the description has no deviation", async (t) => {
  await t.resolves(run(t, service, path, "200", keys));
});

await t.test("an undescribed response is reported for any client", async (t) => {
  await t.rejects(run(t, service, path, "418", "{}"), /GET \/\.well-known\/jwks\.json, answered 418/);
  await t.rejects(run(t, service, path, "200", `{"more":1,${keys.slice(1)}`), /"more"/);
  await t.rejects(run(t, service, "/api/nothing", "200", "{}"), /nothing is described here/);
});

await t.test("other paths and other programs are not watched", async (t) => {
  await t.resolves(run(t, service, "/metrics", "200", "{}"));
  await t.resolves(run(t, "tools/other.ts", path, "418", "{}"));
});

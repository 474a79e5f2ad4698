import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { env, execPath } from "node:process";
import { promisify } from "node:util";
import t from "tap";
import { chart } from "../src/paths.ts";

await t.test("the pod of helm test ends at once when no second try can help", async (t) => {
  let left = 60;
  const server = createServer((_request, response) => {
    left -= 1;
    response.setHeader("ratelimit", `"standard";r=${left}`).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started = Date.now();
  const run = promisify(execFile)(execPath, [resolve(chart, "files/tests/source-address.mjs")], {
    env: { ...env, DIRECT_URL: `http://${address}`, PUBLIC_URL: `https://${address}` },
  });
  await t.rejects(run, { code: 1, stderr: /cannot be reached: ERR_SSL\S+: .*tests\.caConfigMap/ });
  t.ok(Date.now() - started < 60_000, "without the 80 seconds of tries");
});

import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { newFolder, newMachine, newSecret } from "../../../sdk/test/server/machine.ts";
import { json, startServer } from "../../../sdk/test/server/server.ts";
import { coffer } from "../command.ts";

// What `run` does when the rate limit of its address is exhausted, as when many machines start at once.

const uri = "coffer://production/database/field/password";

/** A service that refuses the first requests, and the command of a machine. */
async function setUp(t: Parameters<typeof testDirectory>[0], refusals: number, retryAfter: string) {
  const folder = newFolder("production");
  const secrets = [await newSecret(folder, "database", { password: "s3cret" })];
  const state = { refusals };
  const { url, received } = await startServer(t, (_request, response) => {
    if ((state.refusals -= 1) < 0) json(response, 200, { data: secrets }, { etag: '"1"' });
    else json(response, 429, { error: "rate_limited", message: "too many" }, { "retry-after": retryAfter });
  });
  const configuration = JSON.stringify(await newMachine(url, [folder]));
  const run = (...options: string[]) =>
    coffer(testDirectory(t), ["run", "--no-mask", ...options, "--", "printenv", "DB_PASSWORD"], {
      env: { DB_PASSWORD: uri, COFFER_CONFIG: configuration },
    });
  return { state, received, run };
}

const oneLine = /^coffer: waiting for the rate limit \(too many\); trying again in \d s\n$/;

await t.test("run --watch sends one request, and waits when the rate limit refuses it", async (t) => {
  const { received, run } = await setUp(t, 2, "0");
  t.match(await run("--watch", "--interval", "1"), { code: 0, stdout: "s3cret\n", stderr: oneLine });
  t.equal(received.length, 3);
  t.match(await run("--watch"), { code: 0, stdout: "s3cret\n", stderr: "" });
  t.equal(received.length, 4, "one request is all that a start takes");
});

await t.test("run waits for its turn too", async (t) => {
  // The first three are tried in one go.
  const { received, run } = await setUp(t, 4, "0");
  t.match(await run("--wait", "1"), { code: 0, stdout: "s3cret\n", stderr: oneLine });
  t.equal(received.length, 5);
});

await t.test("no run waits longer than --wait", async (t) => {
  const { received, run } = await setUp(t, Infinity, "60");
  for (const options of [
    ["--wait", "59"],
    ["--wait", "0"],
    ["--watch", "--wait", "59"],
  ])
    t.match(await run(...options), { code: 6, stdout: "", stderr: /too many/ }, options.join(" "));
  t.equal(received.length, 3);
  t.match(await run("--wait", "soon"), { code: 2, stderr: /--wait soon/ });
});

import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { newFolder, newMachine, newSecret } from "../../sdk/test/server/machine.ts";
import { json, startServer } from "../../sdk/test/server/server.ts";
import { coffer } from "./command.ts";

// What a command does when the rate limit of its address is exhausted: many people work behind one address.

/** A service that refuses the first requests, and `ls` as a machine. */
async function setUp(t: Parameters<typeof testDirectory>[0], refusals: number, retryAfter: string) {
  const folder = newFolder("production");
  const secrets = [await newSecret(folder, "database", { password: "s3cret" })];
  let left = refusals;
  const { url, received } = await startServer(t, (_request, response) => {
    if ((left -= 1) < 0) json(response, 200, { data: secrets }, { etag: '"1"' });
    else json(response, 429, { error: "rate_limited", message: "too many" }, { "retry-after": retryAfter });
  });
  const env = { COFFER_CONFIG: JSON.stringify(await newMachine(url, [folder])) };
  return { received, ls: () => coffer(testDirectory(t), ["ls"], { env }) };
}

await t.test("a command waits as Retry-After says, and one line says so", async (t) => {
  const { ls, received } = await setUp(t, 2, "3");
  const { code, stdout, stderr } = await ls();
  t.equal(code, 0);
  t.match(stdout, /\tproduction\tdatabase\t/);
  t.equal(stderr, "coffer: too many requests from this address: waiting 3 s (Retry-After)\n");
  t.equal(received.length, 3);
});

await t.test("it is refused as often as others are before it, and gives up only after two minutes", async (t) => {
  const { ls, received } = await setUp(t, 5, "1");
  t.match(await ls(), { code: 0, stderr: "" });
  t.equal(received.length, 6);
});

await t.test("a wait that is hardly noticed is not said", async (t) => {
  const { ls } = await setUp(t, 1, "0");
  t.match(await ls(), { code: 0, stderr: "" });
});

await t.test("it waits no longer than two minutes: a longer Retry-After is exit 6 at once", async (t) => {
  const { ls, received } = await setUp(t, 1, "121");
  t.match(await ls(), { code: 6, stdout: "", stderr: "coffer: too many: try again in 121 s\n" });
  t.equal(received.length, 1);
});

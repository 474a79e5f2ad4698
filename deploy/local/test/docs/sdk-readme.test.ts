import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import t from "tap";
import { newId } from "@coffer/crypto";
import type { MachineClient, PersonClient, Watch } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { password } from "../cli/cli-person.ts";
import { npmStart } from "../npm-start.ts";

// Runs the examples of the SDK's README unchanged against a running Coffer.

const readme = readFileSync(new URL("../../../../packages/sdk/README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
const used = new Set<string>();
const directory = testDirectory(t);
const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const before = process.cwd();
process.chdir(directory); // the examples write beside themselves
t.teardown(() => process.chdir(before));

/**
 * Runs the one example that contains `mark`, with these names defined; returns the values of `wanted` at
 * its end and its output.
 */
async function run(
  mark: string,
  given: Record<string, unknown>,
  wanted: readonly string[],
): Promise<{ values: Record<string, unknown>; printed: string }> {
  const [code, ...others] = examples.filter((each) => each.includes(mark));
  if (code === undefined || others.length > 0) throw new Error(`not one example with ${mark}`);
  used.add(code);
  const plain = stripTypeScriptTypes(code).replaceAll(
    /^import (\{[^}]*\}) from "([^"]+)";/gm,
    (_whole, names: string, module: string) => `const ${names} = await load(${JSON.stringify(module)});`,
  );
  const printed: string[] = [];
  const print = (...words: unknown[]): void => void printed.push(words.join(" "));
  const known = {
    ...given,
    load: (module: string) => import(module) as Promise<unknown>,
    console: { log: print, error: print },
  };
  // oxlint-disable-next-line typescript/no-implied-eval -- the examples are ours, and are text
  const example = new Function(
    ...Object.keys(known),
    `return (async () => { ${plain}\nreturn { ${wanted.join(", ")} }; })();`,
  ) as (...values: unknown[]) => Promise<Record<string, unknown>>;
  return { values: await example(...Object.values(known)), printed: printed.join("\n") };
}

const email = "you@example.com";
let me: PersonClient | undefined;
let token = "";

await t.test("as a person, who has an organization from the registration on", async (t) => {
  const registered = await run("await register(", { url, email, password, deviceId: newId() }, []);
  t.match(registered.printed, /^cfr1_/);
  const { values, printed } = await run("await login(", { url, email, password, deviceId: newId() }, ["me", "token"]);
  me = values["me"] as PersonClient;
  ({ token } = values["token"] as { token: string });
  t.match(printed, /^cft1_/);
});

await t.test("a new machine, which reads, also while the service is away, and watches", async (t) => {
  await run("saveConfiguration", { url, token }, []);
  const first = await run('await coffer.read("coffer', {}, ["password", "coffer"]);
  t.equal(first.values["password"], "s3cret");
  const offline = await run("onOffline", {}, ["coffer"]);
  const coffer = offline.values["coffer"] as MachineClient;
  t.equal((await coffer.list()).length, 1);
  const watching = await run("coffer.watch(", { coffer }, ["watch"]);
  (watching.values["watch"] as Watch).stop();
});

await t.test("vaults, and a device that follows them", async (t) => {
  const made = await run("me.vaults.create", { me }, ["vault", "record"]);
  t.equal(made.printed, "Example");
  const { vault, record } = made.values as { vault: { id: string }; record: { id: string } };
  t.equal((await (me as PersonClient).records.get(vault.id, record.id)).fields["password"], "n3w");
  const { printed } = await run("me.sync(", { me }, []);
  t.equal(printed, "record_created Example\n1 records");
  t.match(readFileSync("vaults.sealed", "utf8"), /^[A-Za-z0-9+/]+=*\n$/);
});

await t.test("no example was left out", (t) => {
  t.same(
    examples.filter((code) => !used.has(code)),
    [],
  );
  t.end();
});

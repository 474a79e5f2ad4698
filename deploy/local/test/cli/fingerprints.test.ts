import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { decodeBase64, fingerprint, newKeyPair, publicKeyOf } from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import { startBetween } from "../between.ts";
import { newCli, newMachine, newPerson, password } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

// The fingerprint of one's own key is computed from the private key, independently of the service.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const proxy = await startBetween(t, "");
const server = npmStart(t, {
  directory: testDirectory(t),
  env: { ...limits, COFFER_BASE_URL: `http://coffer.invalid,${proxy.url}` },
});
proxy.target = (await server.ready).url;
const person = await newPerson(t, proxy.url, "owner@example.com");
await person.data(["folder", "create", "production"]);
await person.data(["app", "create", "api"]);
const machine = await newMachine(person, "api", ["production:read"]);
const keyIn = async (file: string) => {
  const { private_key } = JSON.parse(readFileSync(file, "utf8")) as { private_key: string };
  return fingerprint(await publicKeyOf(decodeBase64(private_key)));
};
const { publicKey: foreign } = await newKeyPair();
const { words: foreignWords, hex: foreignHex } = await fingerprint(foreign);
const own = JSON.parse(await person.data(["member", "key", "owner@example.com", "--json"])) as {
  public_key: string;
  fingerprint: { words: string; hex: string };
};

/** The service shows another public key for the person and for machines, in every answer. */
async function whileLying(run: () => Promise<void>): Promise<void> {
  proxy.rewrite = (_path, body) => body.replace(/"public_key":"[^"]*"/g, `"public_key":"${foreign}"`);
  await run();
  proxy.rewrite = (_path, body) => body;
}

await t.test("whoami prints the fingerprint of the key held here, in words and hex", async (t) => {
  await whileLying(async () => {
    for (const [args, { words, hex }] of [
      [["whoami"], own.fingerprint],
      [["whoami", "--config", machine], await keyIn(machine)],
    ] as const) {
      t.match(await person.data([...args]), new RegExp(`\nfingerprint: ${words}\nfingerprint in hex: ${hex}$`));
      t.match(JSON.parse(await person.data([...args, "--json"])), { fingerprint: { words, hex } });
    }
  });
});

await t.test("bootstrap and doctor print the machine's, also when the service shows another key", async (t) => {
  await whileLying(async () => {
    const token = await person.data(["token", "create", "--app", "api", "--folder", "production:read"]);
    const file = join(person.home, "second.json");
    const made = await person.run(["bootstrap", "--config", file, "--json"], { env: { COFFER_TOKEN: token } });
    t.equal(made.code, 0, made.stderr);
    const { words, hex } = await keyIn(file);
    t.match(JSON.parse(made.stdout), { fingerprint: { words, hex } });
    t.match(made.stderr, `fingerprint: ${words}\nfingerprint in hex: ${hex}\n`);
    const { findings } = JSON.parse((await person.run(["doctor", "--config", file, "--json"])).stdout) as {
      findings: { check: string; status: string; message: string }[];
    };
    t.match(
      findings.filter(({ check }) => check === "fingerprint"),
      [{ status: "ok", message: `${words} (${hex})` }],
    );
    rmSync(file);
  });
});

await t.test("member key prints one's own key, and fails when the service shows another one", async (t) => {
  const command = ["member", "key", "owner@example.com"];
  const said = `${own.fingerprint.words}\n${own.fingerprint.hex}\n`;
  t.match(await person.run(command), { code: 0, stdout: said, stderr: "" });
  await whileLying(async () => {
    const lied = await person.run(command);
    t.match(lied, { code: 1, stdout: said, stderr: `another public key for you (${foreignWords})` });
  });
});

await t.test("a login is refused when its answer has another public key than that of the private key", async (t) => {
  const device = newCli(t, proxy.url);
  const login = () => device.run(["login", "--email", "owner@example.com"], { env: { COFFER_PASSWORD: password } });
  await whileLying(async () => {
    t.match(await login(), { code: 1, stderr: /another public key for you than that of your private key/ });
    t.match(await device.run(["whoami"]), { code: 3 }, "nothing of it is stored");
  });
  t.match(await login(), { code: 0 });
});

await t.test("lists of machines show client ids and words", async (t) => {
  const { client_id: id } = JSON.parse(readFileSync(machine, "utf8")) as { client_id: string };
  const { words } = await keyIn(machine);
  for (const list of [
    ["client", "ls"],
    ["folder", "holders", "production"],
  ]) {
    const lines = (await person.data(list)).split("\n");
    t.ok(
      lines.some((line) => line.includes(id) && line.endsWith(words)),
      list.join(" "),
    );
    t.match(await person.data([...list, "--json"]), words);
  }
});

await t.test("a refusal names the machine, and the omitted action", async (t) => {
  const { client_id: id } = JSON.parse(readFileSync(machine, "utf8")) as { client_id: string };
  await person.data(["folder", "create", "staging"]);
  await whileLying(async () => {
    const refused = await person.run(["client", "share", id, "staging"]);
    t.match(refused, { code: 4, stdout: "", stderr: `the machine api (${id})` });
    t.match(refused.stderr, "it was not given the folder's key");
  });
  t.notMatch(await person.data(["folder", "holders", "staging"]), foreignHex);
  t.notMatch(await person.data(["folder", "holders", "staging"]), id);
});

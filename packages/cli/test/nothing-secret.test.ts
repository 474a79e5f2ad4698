import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t from "tap";
import type { Test as TestScope } from "tap";
import { encodeBase64, newKey, newKeyPair, newRecoveryKey } from "@coffer/crypto";
import { coffer, inherited } from "./command.ts";
import type { SeriesCall, SeriesOutcome } from "./command-series.ts";
import { startStranger } from "./doctor.ts";
import { startOrganizationServer } from "./organization-server.ts";

const program = fileURLToPath(new URL("./command-series.ts", import.meta.url));

/** Runs many calls of the command in one process. */
async function series(calls: readonly SeriesCall[]): Promise<SeriesOutcome[]> {
  const child = spawn(process.execPath, [program], { env: inherited(), stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(calls));
  const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
  return JSON.parse(said) as SeriesOutcome[];
}

const base64 = (given: string): string => Buffer.from(given).toString("base64");

/** Twenty and some ways in which a text arrives broken. */
const broken: Readonly<Record<string, (given: string) => string>> = {
  "as it is": (given) => given,
  "without its first character": (given) => given.slice(1),
  "without its last character": (given) => given.slice(0, -1),
  "its first half": (given) => given.slice(0, given.length / 2),
  "its second half": (given) => given.slice(given.length / 2),
  twice: (given) => given + given,
  "after a space": (given) => ` ${given}`,
  "with something after it": (given) => `${given}\n}garbage`,
  "in quotes": (given) => `"${given}"`,
  "in single quotes": (given) => `'${given}'`,
  "as a JSON text": (given) => JSON.stringify(given),
  "in upper case": (given) => given.toUpperCase(),
  backwards: (given) => Buffer.from(given).reverse().toString("latin1"),
  "after a byte order mark": (given) => `\uFEFF${given}`,
  "with its variable": (given) => `COFFER_CONFIG=${given}`,
  "as an address": (given) => `http://${given}`,
  "as a path": (given) => `/${given}`,
  "percent-encoded": (given) => encodeURIComponent(given),
  "with a line break in it": (given) => `${given.slice(0, 40)}\n${given.slice(40)}`,
  "with a control character in it": (given) => `${given.slice(0, 30)}\u001b${given.slice(30)}`,
  "without its colons": (given) => given.replaceAll(":", " "),
  "as base64": base64,
  "as base64 of base64": (given) => base64(base64(given)),
  "as url-safe base64": (given) => Buffer.from(given).toString("base64url"),
  "as wrapped base64": (given) => base64(given).replace(/(.{64})/g, "$1\n"),
  "as base64 that is cut short": (given) => base64(given).slice(0, -3),
  "as base64 with a wrong digit": (given) => `${base64(given).slice(0, 100)}!${base64(given).slice(100)}`,
};

function runsOf(given: string): Set<string> {
  return new Set(Array.from({ length: Math.max(given.length - 7, 0) }, (_, index) => given.slice(index, index + 8)));
}

/** What no output may hold of a text in a form: its runs of eight characters, but for those of it without its secrets. */
function needlesOf(given: string, without: string, form: (given: string) => string): string[] {
  const open = runsOf(form(without));
  return [...runsOf(form(given))].filter((run) => !open.has(run) && !/^\s+$/.test(run));
}

interface Case {
  what: string;
  call: SeriesCall;
  needles: readonly string[];
}

async function checkSeries(t: TestScope, cases: readonly Case[]): Promise<SeriesOutcome[]> {
  const outcomes = await series(cases.map(({ call }) => call));
  t.equal(outcomes.length, cases.length);
  const leaks = cases.flatMap(({ what, needles }, index) => {
    const { output = "" } = outcomes[index] ?? {};
    return needles.some((needle) => output.includes(needle)) ? [what] : [];
  });
  t.same(leaks, [], "no output repeats eight characters of a secret");
  return outcomes;
}

const nowhere = "http://127.0.0.1:9";
const { privateKey, publicKey } = await newKeyPair();
const secrets = { private_key: encodeBase64(privateKey), key: encodeBase64(newKey()) };
const configurationWith = ({ private_key, key }: typeof secrets): string =>
  JSON.stringify({
    ...{ version: 1, url: nowhere, client_id: "0199-machine", private_key, public_key: publicKey },
    ...{ application_id: "0199-application", org_id: "0199-organization" },
    folders: [{ id: "f", name: "production", permission: "read", key }],
  });
const configuration = configurationWith(secrets);
const blank = configurationWith({ private_key: "", key: "" });
const notation = "coffer://production/database/field/password";

await t.test("a configuration is in no output, in whatever form and by whatever command", async (t) => {
  const home = t.testdir({});
  const env = { HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home, COFFER_TOKEN: "cft1_half" };
  const cases: Case[] = [];
  const url = await startStranger(t, () => undefined);
  for (const [what, form] of Object.entries(broken)) {
    const given = form(configuration);
    const needles = needlesOf(configuration, blank, form);
    t.ok(needles.length > 20, what);
    for (const args of [["whoami"], ["read", notation], ["doctor"], ["env", "--folder", "f"], ["bootstrap"]])
      for (const way of [
        { env: { ...env, COFFER_CONFIG: given }, flags: [] },
        { env, flags: [`--config=${given}`] },
      ])
        cases.push({
          what: `${args[0]}, ${what}`,
          needles,
          call: { args: [...args, ...way.flags, "--url", url], env: way.env },
        });
  }
  await checkSeries(t, cases);
  t.same(readdirSync(home), [], "and no file has its name");
  const withFiles = Object.entries(broken).flatMap(([what, form], index): Case[] => {
    const file = join(home, `machine-${index}.json`);
    writeFileSync(file, form(configuration), { mode: 0o600 });
    const needles = needlesOf(configuration, blank, form);
    return [["whoami"], ["doctor"], ["run", "--", "true"], ["ls"], ["bootstrap"]].map(([name = "", ...rest]) => ({
      what: `${name} with a file, ${what}`,
      needles,
      call: { args: [name, "--config", file, "--url", url, ...rest], env },
    }));
  });
  await checkSeries(t, withFiles);
});

await t.test("a configuration is taken as JSON, as base64 of every kind, and from a file with either", async (t) => {
  const home = t.testdir({});
  const env = { HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home };
  const file = join(home, "machine.b64");
  const forms = ["as it is", "after a byte order mark", "as base64", "as url-safe base64", "as wrapped base64"];
  for (const form of forms) {
    const given = broken[form]?.(configuration) ?? "";
    writeFileSync(file, given, { mode: 0o600 });
    for (const config of [given, file]) {
      const [outcome] = await series([{ args: ["doctor", "--json"], env: { ...env, COFFER_CONFIG: config } }]);
      const { findings } = JSON.parse(outcome?.output ?? "") as { findings: { check: string; status: string }[] };
      t.match(
        findings.filter(({ check }) => check === "configuration"),
        [{ status: "ok" }],
        form,
      );
    }
  }
});

await t.test("a token, password, recovery key or value is in no output", async (t) => {
  const server = await startOrganizationServer(t);
  const env = { HOME: server.home, XDG_CONFIG_HOME: server.home, COFFER_DATA_DIR: server.home, COFFER_URL: server.url };
  const away = { ...env, COFFER_URL: await startStranger(t, () => undefined) };
  const token = `cft1_${Buffer.from(newKey()).toString("base64url")}`;
  const password = "correct horse battery staple";
  const recoveryKey = newRecoveryKey();
  const value = JSON.stringify({ name: "Example", password: "Tr0ub4dor-and-3-others" });
  const cases: Case[] = [];
  for (const [index, [what, form]] of Object.entries(broken).entries()) {
    const written = (name: string, secret: string): string => {
      const path = join(server.home, `${name}-${index}`);
      writeFileSync(path, form(secret));
      return path;
    };
    const add = (secret: string, without: string, call: SeriesCall): void =>
      void cases.push({
        what: `${call.args.slice(0, 2).join(" ")}, ${what}`,
        needles: needlesOf(secret, without, form),
        call,
      });
    const config = join(server.home, `machine-${index}.json`);
    for (const args of [
      ["bootstrap", "--config", config],
      ["invite", "accept"],
    ])
      add(token, "cft1_", { args, env: { ...away, ...(args[0] === "invite" ? env : {}), COFFER_TOKEN: form(token) } });
    const passwords = ["--password-file", written("password", password)];
    const email = ["--email", "a@example.com"];
    for (const args of [
      ["login", ...email, ...passwords],
      ["register", ...email, ...passwords],
      ["totp", "off", ...passwords],
      ["travel", "off", ...passwords],
      ["password", ...passwords, "--new-password-file", passwords[1] ?? ""],
    ])
      add(password, "", { args, env: args.includes("--email") ? away : env });
    add(password, "", { args: ["login", ...email], env: { ...away, COFFER_PASSWORD: form(password) } });
    const recover = ["recover", ...email, "--recovery-key-file", written("recovery", recoveryKey)];
    add(recoveryKey, "cfr1_", { args: [...recover, ...passwords], env: away });
    const values = ["--file", written("value", value)];
    const without = JSON.stringify({ name: "Example", password: "" });
    for (const args of [
      ["set", notation, ...values],
      ["record", "create", "Private", ...values],
    ])
      add(value, without, { args, env });
  }
  await checkSeries(t, cases);
});

await t.test("a token from stdin is in no output", async (t) => {
  const home = t.testdir({});
  const url = await startStranger(t, () => undefined);
  const token = `cft1_${Buffer.from(newKey()).toString("base64url")}`;
  for (const what of ["as it is", "its first half", "in quotes", "with a line break in it"]) {
    const form = broken[what] ?? String;
    const args = ["bootstrap", "--config", join(home, "machine.json"), "--url", url];
    const { code, stdout, stderr } = await coffer(home, args, { input: form(token) });
    t.not(code, 0);
    t.notOk(
      needlesOf(token, "cft1_", form).some((needle) => (stdout + stderr).includes(needle)),
      what,
    );
  }
});

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeBase64, newKey, newKeyPair, newRecoveryKey } from "@coffer/crypto";
import t from "tap";
import type { SeriesCall } from "../command-series.ts";
import { coffer } from "../command.ts";
import { startStranger } from "../doctor/doctor.ts";
import { startOrganizationServer } from "../organization-server.ts";
import { broken, type Case, checkSeries, needlesOf, series } from "../run/secret-forms.ts";

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

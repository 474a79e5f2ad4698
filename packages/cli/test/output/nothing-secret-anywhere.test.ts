import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeBase64, newId, newKey, newKeyPair, newRecoveryKey } from "@coffer/crypto";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { newSession } from "../../../sdk/test/server/vault-server.ts";
import { type CommandRow, configOption } from "../../src/command-row.ts";
import { groups } from "../../src/rows/index.ts";
import type { SeriesCall } from "../command-series.ts";
import { asCoffer, startStranger } from "../doctor/doctor.ts";
import { broken, type Case, checkSeries, needlesOf } from "../run/secret-forms.ts";

// Every command, with every kind of secret input in every broken form. No output and no file
// repeats any of it.

// The scanner reads no profile and sends no request, but it reads all files of the working
// directory: scan-settings.test.ts tests it.
const rows = groups.flatMap(([, found]) => found).filter(({ name }) => !/^scan\b/.test(name));
const forms = Object.entries(broken);
// It answers 404 to everything: what a command has read it has read by then.
const url = await startStranger(t, () => undefined);
const anyId = newId();
// It begins with what no address begins with: `http://1` would be found in every address.
const random = (): string => `Qz${randomBytes(24).toString("base64url")}`;
const { privateKey, publicKey } = await newKeyPair();
const keys = { private_key: encodeBase64(privateKey), key: encodeBase64(newKey()) };
const session = {
  ...(await newSession(url)),
  access_token: random(),
  refresh_token: random(),
};
const closed = { access_token: "", refresh_token: "", user_key: "", public_key: "", encrypted_private_key: "" };

/** A secret, and the same text without what is secret in it. */
interface Secret {
  whole: string;
  open: string;
}

const configurationWith = ({ private_key, key }: typeof keys): string =>
  JSON.stringify({
    ...{ version: 1, url, client_id: anyId, private_key, public_key: publicKey },
    ...{ application_id: "0199-application", org_id: "0199-organization" },
    folders: [{ id: "f", name: "production", permission: "read", key }],
  });
const profileWith = (one: object): string =>
  JSON.stringify({ version: 1, device_id: anyId, url, sessions: { [url]: { ...session, ...one } } });
const secret = (whole: string, open = ""): Secret => ({ whole, open });
const configuration = secret(configurationWith(keys), configurationWith({ private_key: "", key: "" }));
const profile = secret(profileWith({}), profileWith(closed));
const token = secret(`cft1_${Buffer.from(newKey()).toString("base64url")}`, "cft1_");
const invitation = secret(`cfi1_${Buffer.from(newKey()).toString("base64url")}`, "cfi1_");
const recoveryKey = secret(newRecoveryKey(), "cfr1_");
const [password, newPassword, code] = [secret(random()), secret(random()), secret(random())];
const value = secret(JSON.stringify({ name: "Example", pin: random() }), '{"name":"Example","pin":""}');

/** What the option of a row reads from a file. A template holds no secret, and `inject` prints it. */
const files: Readonly<Record<string, Secret>> = {
  "--password-file": password,
  "--new-password-file": newPassword,
  "--recovery-key-file": recoveryKey,
  "--otp-file": code,
  "--file": value,
  "--env-file": value,
  "--cache": configuration,
  "--store": profile,
};
const required: Readonly<Record<string, string>> = {
  "--email": "a@example.com",
  "--app": "api",
  "--folder": "production:read",
  "--vault": "Private",
  "--format": "coffer-json",
};
const words: Readonly<Record<string, string>> = {
  uri: "coffer://production/database/field/password",
  "command...": "true",
  shell: "bash",
  id: anyId,
};

const flagOf = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? "";

/** A call of a row; `place` gives the word for an argument or option that has a word. */
function callOf(row: CommandRow, place: (name: string) => string | undefined): string[] {
  const [args, options]: [string[], string[]] = [[], []];
  for (const [, name = ""] of (row.args ?? "").matchAll(/<([^>]+)>/g)) args.push(place(name) ?? words[name] ?? "thing");
  for (const { flags, required: must } of row.options) {
    const flag = flagOf(flags);
    const word = place(flag) ?? (must === true ? required[flag] : undefined);
    if (word !== undefined) options.push(`${flag}=${word}`);
  }
  return [...row.name.split(" "), ...options, ...args];
}

/** All files below a folder, with what they hold. */
function filesBelow(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) found.set(name, readFileSync(path, "latin1"));
  }
  return found;
}

/**
 * Every form in turn: its cases, in its own home, whose new files hold and are named by
 * nothing secret.
 */
async function checkForms(
  scope: Parameters<typeof checkSeries>[0],
  casesOf: (what: string, form: (given: string) => string, home: string) => Case[],
): Promise<void> {
  const homes = forms.map(([what, form]) => ({ what, form, home: testDirectory(scope) }));
  const cases = homes.map(({ what, form, home }) => casesOf(what, form, home));
  const before = homes.map(({ home }) => filesBelow(home));
  await checkSeries(scope, cases.flat());
  for (const [index, { what, home }] of homes.entries()) {
    const needles = cases[index]?.[0]?.needles ?? [];
    for (const [name, content] of filesBelow(home)) {
      if (before[index]?.get(name) === content) continue;
      const found = needles.filter((needle) => name.includes(needle) || content.includes(needle));
      scope.same(found, [], `${what}: ${name} is new or changed, and holds nothing of a secret`);
    }
  }
}

const needlesFor = (secrets: readonly Secret[], form: (given: string) => string): string[] => [
  ...new Set(secrets.flatMap(({ whole, open }) => needlesOf(whole, open, form))),
];

t.ok(forms.length >= 20, "twenty forms");

await t.test("as a machine: configurations, tokens and passwords in variables and files", async (t) => {
  await checkForms(t, (what, form, home) => {
    const file = join(home, "machine");
    writeFileSync(file, form(configuration.whole), { mode: 0o600 });
    const base = { HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home, COFFER_URL: url };
    const env = { ...base, COFFER_TOKEN: form(token.whole), COFFER_PASSWORD: form(password.whole) };
    const needles = needlesFor([configuration, token, password], form);
    return rows
      .filter(({ name, options }) => options.includes(configOption) || ["bootstrap", "doctor"].includes(name))
      .flatMap((row) => [
        { env: { ...env, COFFER_CONFIG: form(configuration.whole) }, args: callOf(row, () => undefined) },
        { env, args: callOf(row, (name) => (name === "--config" ? file : undefined)) },
        { env, args: callOf(row, (name) => (name === "--config" ? form(configuration.whole) : undefined)) },
      ])
      .map((call) => ({ what: `${call.args.slice(0, 2).join(" ")}, ${what}`, needles, call }));
  });
});

await t.test("as a person: profiles, files of options, stdin, tokens and passwords", async (t) => {
  const fed = [profile, invitation, password, newPassword, code, recoveryKey, value, configuration];
  await checkForms(t, (what, form, home) => {
    mkdirSync(join(home, "coffer"), { mode: 0o700 });
    // In every other form the profile is right, so that the commands go on and read the rest.
    const isRight = forms.findIndex(([name]) => name === what) % 2 === 0;
    const written = isRight ? profile.whole : form(profile.whole);
    writeFileSync(join(home, "coffer", "profile.json"), written, { mode: 0o600 });
    const paths = new Map(
      Object.entries(files).map(([flag, { whole }]) => {
        const path = join(home, `input${flag}`);
        writeFileSync(path, form(whole), { mode: 0o600 });
        return [flag, path];
      }),
    );
    const input = join(home, "import");
    writeFileSync(input, form(value.whole));
    const base = { HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home, COFFER_URL: url };
    const env = { ...base, COFFER_PASSWORD: form(password.whole) };
    const needles = needlesFor([...fed, ...(isRight ? [] : [profile])], form);
    const place = (name: string): string | undefined => (name === "file" ? input : paths.get(name));
    return rows.flatMap((row) => {
      const takesStdin = ["set", "record create", "record set", "register", "invite accept", "bootstrap"];
      const calls: SeriesCall[] = [{ args: callOf(row, place), env: { ...env, COFFER_TOKEN: form(invitation.whole) } }];
      const [fromStdin] = takesStdin.includes(row.name) ? calls : [];
      const invited = row.name === "register" ? ["--invite"] : [];
      if (fromStdin !== undefined) calls.push({ args: [...callOf(row, () => undefined), ...invited], env });
      const inputOf = form(row.name === "set" || row.name.startsWith("record") ? value.whole : invitation.whole);
      return calls.map((call) => ({
        what: `${row.name}, ${what}`,
        needles,
        call: { ...call, input: inputOf },
      }));
    });
  });
});

await t.test("bootstrap makes no file with the name of a token, also when the service answers", async (t) => {
  const service = await startStranger(t, asCoffer());
  const home = testDirectory(t);
  const env = { HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home, COFFER_TOKEN: token.whole };
  const cases = [token.whole, `${token.whole}.json`, invitation.whole].map((name): Case => ({
    what: name,
    needles: needlesFor([token, invitation], String),
    call: { args: ["bootstrap", `--config=${join(home, name)}`, "--url", service], env },
  }));
  t.match(
    await checkSeries(t, cases),
    cases.map(() => ({ code: 2 })),
  );
  t.same(readdirSync(home), []);
});

await t.test("a token, key or configuration that stands in the place of an argument or option", async (t) => {
  const home = testDirectory(t);
  const env = { HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home, COFFER_URL: url };
  mkdirSync(join(home, "coffer"), { mode: 0o700 });
  writeFileSync(join(home, "coffer", "profile.json"), profile.whole, { mode: 0o600 });
  const before = new Set(filesBelow(home).keys());
  const cases: Case[] = [];
  const written = new Set(["run", "export", "inject", "completion"]);
  for (const { whole, open } of [token, invitation, recoveryKey, configuration, secret(keys.private_key)]) {
    const needles = needlesOf(whole, open, String);
    const add = (...args: string[]): void => void cases.push({ what: args[0] ?? "", needles, call: { args, env } });
    add(whole);
    add(`--${whole}`);
    add("help", whole);
    for (const row of rows) {
      const places = [...(row.args ?? "").matchAll(/<([^>]+)>/g)].map(([, name = ""]) => name);
      const flags = row.options.filter((option) => / </.test(option.flags)).map((option) => flagOf(option.flags));
      for (const wanted of [...places, ...flags]) {
        // What is named here is run or written, and the name is the person's.
        if (written.has(row.name) && !flags.includes(wanted)) continue;
        if (["--out", "--cache", "--store"].includes(wanted)) continue;
        add(...callOf(row, (name) => (name === wanted ? whole : undefined)));
      }
      add(...callOf(row, () => undefined), whole);
    }
  }
  await checkSeries(
    t,
    cases.filter(({ call }) => call.args[0] !== "run" || call.args.at(-1) === "true"),
  );
  const names = [...filesBelow(home).keys()].filter((name) => !before.has(name));
  const needles = [token, invitation, recoveryKey].flatMap(({ whole, open }) => needlesOf(whole, open, String));
  t.notOk(
    needles.some((needle) => names.join("\n").includes(needle)),
    "no file has such a name",
  );
});

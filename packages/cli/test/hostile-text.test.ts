import { execFileSync } from "node:child_process";
import type { SecretsClient } from "@coffer/sdk";
import t from "tap";
import { jsonLine, visible, visibleLines } from "../src/output.ts";
import { quoteValue } from "../src/quote-value.ts";
import { resolveReferences } from "../src/references.ts";
import { secretRows } from "../src/rows/secrets.ts";

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
  t.equal(visible("a\u001b]0;owned\u0007b\nc\u009bd"), "a?]0;owned?b?c?d");
  t.equal(visibleLines("a\u001b[2Jb\nc\rd\u0085e"), "a?[2Jb\nc?d?e");
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

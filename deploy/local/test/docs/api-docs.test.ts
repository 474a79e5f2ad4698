import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { errorCodes } from "@coffer/contract";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { checkout } from "../../src/checkout.ts";
import { newMachine, newPerson, password } from "../cli/cli-person.ts";
import { npmStart } from "../npm-start.ts";

const page = readFileSync(resolve(checkout, "docs/api.md"), "utf8");

await t.test("the commands of docs/api.md work in order, unchanged", async (t) => {
  const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
  const person = await newPerson(t, url, "you@example.com");
  await person.data(["folder", "create", "production"]);
  await person.data(["set", "coffer://production/database/field/password"], { input: "s3cret" });
  await person.data(["app", "create", "api"]);
  const machine = await newMachine(person, "api", ["production:read"]);

  const lines = Array.from(page.matchAll(/```sh\n([^]*?)```/g), ([, block = ""]) => block).join("\necho\n");
  const script = lines
    .replace("http://127.0.0.1:8080", url)
    .replace("machine.json", machine)
    .replace("your password", password);
  const run = promisify(execFile);
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: checkout, timeout: 120_000 });
  const [list, account, loggedOut, tagged, pages] = stdout.split("\n").filter((line) => line !== "");
  t.match(JSON.parse(list ?? ""), { data: [{ title: "database", data_encrypted: String }] });
  t.match(JSON.parse(account ?? ""), { user: { email: "you@example.com" } });
  t.equal(loggedOut, "304", "logging out prints nothing");
  t.match(JSON.parse(tagged ?? ""), { data: [{ title: "database" }], next_cursor: null });
  t.equal(pages, undefined);
});

await t.test("docs/api.md has every error code with its status", (t) => {
  for (const [code, status] of Object.entries(errorCodes))
    t.match(page, new RegExp(`^\\| ${status} +\\|[^|]*\`${code}\``, "m"), code);
  t.end();
});

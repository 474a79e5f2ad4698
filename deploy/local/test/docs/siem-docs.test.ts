import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { command } from "../../../../packages/cli/test/command.ts";
import { hecToken, startHec } from "../../../../services/siem-forwarder/test/delivery/receivers/vendors.ts";
import { checkout } from "../../src/checkout.ts";
import { newPerson } from "../cli/cli-person.ts";
import { npmStart } from "../npm-start.ts";

const page = readFileSync(resolve(checkout, "docs/siem.md"), "utf8");

await t.test("the commands of docs/siem.md work in order, unchanged", async (t) => {
  const env = { COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8" };
  const { url } = await npmStart(t, { directory: testDirectory(t), env }).ready;
  const splunk = await startHec(t);
  const { home } = await newPerson(t, url, "you@example.com");
  const profile = JSON.parse(readFileSync(join(home, "coffer/profile.json"), "utf8")) as {
    sessions: Record<string, { access_token: string }>;
  };
  const lines = Array.from(page.matchAll(/```sh\n([^]*?)```/g), ([, block = ""]) => block).join("\necho\n");
  const script = `coffer() { "${command}" "$@"; }\n${lines}`
    .replaceAll("https://splunk.example:8088/", `${splunk.url}/`)
    .replaceAll('"token": "…"', `"token": "${hecToken}"`);
  const { stdout, stderr } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    cwd: home,
    timeout: 120_000,
    env: {
      PATH: [dirname(process.execPath), process.env["PATH"]].join(":"),
      HOME: home,
      XDG_CONFIG_HOME: home,
      COFFER_URL: url,
      url,
      person: profile.sessions[url]?.access_token ?? "",
    },
  });
  t.match(stderr, /Splunk took the event/);
  const answers = stdout.split(/\n|(?<=\})(?=\{)/).filter((line) => line !== "");
  const [id = "", tested = "", list = "", changed = "", ...rest] = answers;
  t.match(id, /^[0-9a-f-]{36}$/, "the command prints the id of the endpoint");
  t.same(JSON.parse(tested), { ok: true, status: 200, error: null });
  t.match(JSON.parse(list), {
    data: [{ id, name: "Splunk" }, { name: "Splunk" }],
  });
  t.match(JSON.parse(changed), { enabled: false });
  t.same(rest, [], "a deletion answers nothing");
  t.match(splunk.taken[0], { action: "siem.webhook.tested" });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@coffer/crypto";
import t from "tap";
import { newFolder, newMachine } from "../../sdk/test/server/machine.ts";
import { newSession } from "../../sdk/test/server/vault-server.ts";
import { coffer } from "./command.ts";

const remote = "http://coffer.invalid";

await t.test("plain http to another machine is refused wherever the address comes from", async (t) => {
  const home = t.testdir({ coffer: {} });
  const machine = JSON.stringify(await newMachine(remote, [newFolder("production")]));
  const file = join(home, "machine.json");
  writeFileSync(file, machine, { mode: 0o600 });
  const profile = { version: 1, device_id: newId(), url: remote, sessions: { [remote]: await newSession(remote) } };
  const email = ["--email", "a@example.com"];
  const env = { COFFER_PASSWORD: "correct horse", COFFER_TOKEN: "plain", COFFER_URL: remote };
  const { COFFER_URL: _none, ...unnamed } = env;
  const refused = async (args: string[], env: Record<string, string> = unnamed): Promise<void> => {
    t.match(await coffer(home, args, { env }), { code: 2, stdout: "", stderr: /--insecure-http/ }, args.join(" "));
    const accepted = await coffer(home, [...args, "--insecure-http"], { env });
    t.match(accepted, { code: 7, stdout: "", stderr: /cannot be reached/ }, `${args.join(" ")}, accepted`);
  };
  await refused(["login", ...email, "--url", remote]);
  await refused(["register", ...email], env);
  await refused(["bootstrap", "--config", join(home, "new.json")], env);
  await refused(["whoami", "--config", file]);
  await refused(["whoami"], { ...unnamed, COFFER_CONFIG: machine });
  mkdirSync(join(home, "coffer"), { recursive: true });
  writeFileSync(join(home, "coffer", "profile.json"), JSON.stringify(profile), { mode: 0o600 });
  await refused(["whoami"]);
  await refused(["login", ...email]);
  const doctor = await coffer(home, ["doctor"], { env: unnamed });
  t.match(doctor, { code: 1, stdout: /problem\taddress\t.*--insecure-http/ });
});

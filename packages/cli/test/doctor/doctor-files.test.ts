import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MachineConfiguration } from "@coffer/sdk";
import t from "tap";
import { doctor } from "./doctor.ts";

const nowhere = ["--url", "http://127.0.0.1:9"];
const machine: MachineConfiguration = {
  version: 1,
  url: "http://127.0.0.1:9",
  client_id: "c",
  private_key: "k",
  public_key: "p",
  application_id: "a",
  folders: [],
};

function write(home: string, path: string, text: string, mode = 0o600): string {
  const file = join(home, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

await t.test("a profile that others may read, or that is none, is a problem", async (t) => {
  const home = t.testdir({});
  const profile = JSON.stringify({ version: 1, device_id: "d", sessions: {} });
  const found = async () => (await doctor(home, nowhere)).of("profile");
  t.same(await found(), [], "none is nothing");
  const file = write(home, "coffer/profile.json", profile);
  t.match(await found(), [{ status: "ok" }]);
  for (const mode of [0o640, 0o604, 0o620]) {
    chmodSync(file, mode);
    t.match(await found(), [{ status: "problem", message: /mode 06[0-9]{2}/, advice: `chmod 600 ${file}` }]);
  }
  write(home, "coffer/profile.json", "half a pro");
  t.match(await found(), [
    { status: "ok" },
    { status: "problem", message: /is not a profile/, advice: /log in again/ },
  ]);
});

await t.test("a machine's configuration is there, for its owner alone, whole and bootstrapped", async (t) => {
  const home = t.testdir({});
  const file = write(home, "machine.json", JSON.stringify(machine));
  const found = async (config = file) => (await doctor(home, ["--config", config, ...nowhere])).of("configuration");
  t.match(await found(), [{ status: "ok" }]);
  t.match(await found(JSON.stringify(machine)), [{ status: "ok", message: /as text/ }]);
  chmodSync(file, 0o644);
  t.match(await found(), [{ status: "problem", message: /mode 0644/, advice: `chmod 600 ${file}` }]);
  t.match(await found(join(home, "none.json")), [{ status: "problem", message: /there is no/, advice: /bootstrap/ }]);
  t.match(await found(home), [{ status: "problem", message: /ordinary file/ }, { status: "problem" }]);
  write(home, "machine.json", "{}");
  t.match(await found(), [{ status: "ok" }, { status: "problem", message: /not a machine's configuration/ }]);
  const { application_id: _none, ...drafted } = machine;
  write(home, "machine.json", JSON.stringify(drafted));
  t.match(await found(), [{ status: "ok" }, { status: "problem", message: /not finished/ }]);
});

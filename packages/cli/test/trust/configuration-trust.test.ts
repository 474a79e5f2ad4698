import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MachineConfiguration, Trusted, TrustRecord } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import t, { type Test } from "tap";
import { outcomeOf, start } from "../command.ts";
import { configurationTrust } from "../../src/trust/configuration-trust.ts";

/** The user id of Debian's user without rights. */
const unprivilegedId = 65_534;

/** Runs the work as a user who may read the folder and write nothing there. */
async function withoutWriting<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid?.(unprivilegedId);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
}

const pinned = (seq: number): Trusted => ({
  pin: { seq, hash: String(seq).repeat(64).slice(0, 64) },
  state: null,
  accepted: true,
});
const recordOf = (resources: TrustRecord["resources"]): TrustRecord => ({
  ...{ version: 1, keyring: 0, unsaved: false, resources },
});

interface Stored {
  folder: string;
  path: string;
  before: MachineConfiguration;
  store(histories: TrustRecord): void;
}

/** A configuration file with pins of two folders. */
function storedConfiguration(t: Test): Stored {
  const folder = testDirectory(t);
  for (let above = folder; above !== dirname(above) && above !== "/tmp"; above = dirname(above))
    chmodSync(above, 0o755);
  const path = join(folder, "machine.json");
  const identity = {
    version: 1,
    url: "https://coffer.example.com",
    client_id: "c",
    private_key: "p",
    public_key: "k",
  };
  const before: MachineConfiguration = {
    ...identity,
    version: 1,
    folders: [],
    histories: recordOf({ "folder:a": pinned(1), "folder:b": pinned(1) }),
  };
  const store = (histories: TrustRecord): void => {
    writeFileSync(path, JSON.stringify({ ...before, histories }), { mode: 0o644 });
  };
  store(before.histories ?? recordOf({}));
  return { folder, path, before, store };
}

await t.test(
  "a process that cannot write the file learns of later entries that another one stores there",
  async (t) => {
    const { folder, path, before, store } = storedConfiguration(t);
    const trust = configurationTrust(path, before);
    await withoutWriting(folder, () =>
      trust.change((record) => ({ ...record, resources: { ...record.resources, "folder:a": pinned(2) } })),
    );
    t.match(
      JSON.parse(readFileSync(path, "utf8")),
      { histories: { resources: { "folder:a": { pin: { seq: 1 } } } } },
      "it stays in memory",
    );
    t.match(await trust.load(), { resources: { "folder:a": { pin: { seq: 2 } }, "folder:b": { pin: { seq: 1 } } } });
    // Another process has seen the rotation of b, and c.
    store(recordOf({ "folder:a": pinned(1), "folder:b": pinned(4), "folder:c": pinned(0) }));
    const { resources } = await trust.load();
    t.match(resources["folder:a"], { pin: { seq: 2 }, expect: undefined }, "its own later entry stays");
    t.match(resources["folder:b"], { pin: { seq: 1 }, expect: [pinned(4).pin] }, "the history must contain that entry");
    t.same(resources["folder:c"], pinned(0));
  },
);

await t.test("what must be stored is refused where the file cannot be written", async (t) => {
  const { folder, path, before } = storedConfiguration(t);
  const trust = configurationTrust(path, before, { mustStore: true });
  const added = (record: TrustRecord): TrustRecord => ({
    ...record,
    resources: { ...record.resources, "folder:c": pinned(2) },
  });
  await withoutWriting(folder, () =>
    t.rejects(trust.change(added), { exitCode: 1, message: /cannot be written, so nothing is trusted/ }),
  );
  t.notOk("folder:c" in (await trust.load()).resources);
  await trust.change(added);
  t.match(JSON.parse(readFileSync(path, "utf8")), { histories: { resources: { "folder:c": { pin: { seq: 2 } } } } });
});

await t.test("a configuration that is no file cannot remember what is trusted", async (t) => {
  const { before } = storedConfiguration(t);
  const env = { COFFER_CONFIG: JSON.stringify(before) };
  const trusting = outcomeOf(
    start(testDirectory(t), ["folder", "trust", "01a22452-1387-7b9b-9184-f107b866d9bb"], { env }),
  );
  t.match(await trusting, { code: 2, stderr: /give the configuration as a file/ });
});

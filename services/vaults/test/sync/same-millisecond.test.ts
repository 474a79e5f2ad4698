import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { execute, whileHolding } from "../support/held-vault.ts";
import type { Person } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { catchUp, quiet, sync } from "../support/sync.ts";
import { expected, newRecord, newVault, sealed, share } from "../support/vaults.ts";

// Two replicas change one record at one time: their clock stands still meanwhile.

const service = await startVaults(t);
const { people, clock } = service;
const replicas = [service, await service.replica()];
const orgId = randomUUID();
const [owner, other] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
const vault = await newVault(service, owner);
await share(service, owner, vault.id, other, "write");
const { id, updated_at: first } = await newRecord(service, owner, vault.id);

interface Version {
  updated_at: string;
  encrypted_data: string;
}

/** A device: fetches changes since its last sync, and stores those that are not older than its own. */
function device(person: Person): { sync(): Promise<Version> } {
  let last: string | null = null;
  let held: Version = { updated_at: "", encrypted_data: "" };
  return {
    async sync() {
      const answer = await sync(service, person, last);
      last = answer.server_time;
      for (const change of answer.changes)
        if (change.id === id && change.updated_at >= held.updated_at)
          held = { updated_at: change.updated_at, encrypted_data: change.encrypted_data };
      return held;
    },
  };
}

/** The row in the database. */
async function stored(): Promise<Version | undefined> {
  const [version] = await execute<Version>(
    service,
    `SELECT to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS updated_at, encrypted_data
     FROM vaults.records WHERE id = $1`,
    [id],
  );
  return version;
}

const path = `/api/vaults/${vault.id}/records/${id}`;
const millisecond = ({ updated_at }: Version): string => updated_at.slice(0, "2026-11-20T10:00:00.000".length);

/** Both people change it through different replicas, once both statements wait for the row. */
async function changeAtOnce(): Promise<Version[]> {
  const lock = { text: "SELECT FROM records WHERE id = $1 FOR UPDATE", values: [id], waiting: 2 };
  const answers = await whileHolding(
    service,
    lock,
    [owner, other].map((person, at) => async () => {
      const body = { type: "login", encrypted_data: sealed() };
      return expected(await call(replicas[at] ?? service, person, "PUT", path, { body }), 200);
    }),
  );
  return answers.map(({ updated_at, encrypted_data }) => ({ updated_at, encrypted_data }));
}

await t.test("of two updates in one millisecond, on two replicas, every reader sees the same winner", async (t) => {
  const devices = [owner, owner, other, other].map(device);
  const since = await quiet(service, owner);
  const times = [first];
  for (let round = 1; round <= 20; round += 1) {
    clock.stop();
    const [versions] = await Promise.all([changeAtOnce(), ...devices.map((each) => each.sync())]);
    const [early, late] = versions.sort((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
    if (early === undefined || late === undefined) throw new TypeError("there are two");
    t.equal(millisecond(early), millisecond(late), `round ${round}: both are of one millisecond`);
    times.push(early.updated_at, late.updated_at);
    t.same(await stored(), late);
    for (const replica of replicas) t.match((await call(replica, other, "GET", path)).body, late);
    for (const each of devices) t.same(await each.sync(), late);
  }
  t.same(times, [...new Set(times)].sort(), "the times only grow");
  const { records } = await catchUp(service, since);
  t.same(
    records.flatMap(({ changes }) => changes).filter(({ record_id }) => record_id === id),
    [{ action: "record_updated", record_id: id, updated_at: times.at(-1) }],
    "a device without events gets the winner by sync",
  );
});

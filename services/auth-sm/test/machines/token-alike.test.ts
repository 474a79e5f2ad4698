import { randomBytes, randomUUID } from "node:crypto";
import { testPostgres } from "@coffer/testkit";
import t from "tap";
import { type Answer, call } from "../support/call.ts";
import { bearer, createMachine, createToken, newKeyPair } from "../support/machines.ts";
import { execute } from "../support/members.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// The time of a refusal does not reveal whether the token's client exists. Commits take the time,
// because each waits for
// the disk; an unknown token has as many commits.

// One on which commits wait.
const postgres = await testPostgres(t, { own: true });
const service = await startAuthSm(t, {}, { postgres });
const owner = await register(service, { orgName: "Example" });
const machine = await createMachine(service, owner, []);
const { key, spki } = newKeyPair();
const used = await createToken(service, owner, []);

const show = (clientId: string) =>
  call(service, "GET", "/api/sm/v1/folders", { token: bearer({ clientId, key }, { now: service.clock.now() }) });
const spend = (token: string) => call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: spki } });
await spend(used.token);

const written = async (): Promise<{ transactions: number; inserted: string }> => {
  const [row] = await execute(
    service,
    `SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS transactions, pg_current_wal_insert_lsn() AS inserted`,
  );
  const { transactions, inserted } = row as { transactions: string; inserted: string }; // as the statement names them
  return { transactions: Number(transactions), inserted };
};
const isOnDisk = async (position: string): Promise<boolean> => {
  const [row] = await execute(service, `SELECT pg_current_wal_flush_lsn() > $1::pg_lsn AS durable`, [position]);
  return (row as { durable: boolean }).durable; // as the statement names it
};

for (const [what, commits, known, unknown] of [
  ["a client's token with a wrong signature", 1, () => show(machine.clientId), () => show(randomUUID())],
  ["a one-time token", 2, () => spend(used.token), () => spend(randomBytes(32).toString("base64url"))],
] as const) {
  await t.test(`what is unknown waits for as many commits as what is known: ${what}`, async (t) => {
    const measure = async (attempt: () => Promise<Answer>, who: string): Promise<void> => {
      const before = await written();
      t.equal((await attempt()).status, 401);
      t.ok(await isOnDisk(before.inserted), `${who}: something was written, and is on the disk`);
      const { transactions } = await written();
      t.ok(
        transactions - before.transactions >= commits,
        `${who}: ${transactions - before.transactions} of ${commits}`,
      );
    };
    // Once could be something else that the service writes.
    for (let time = 0; time < 10; time += 1) await measure(unknown, "unknown");
    await measure(known, "known");
  });
}

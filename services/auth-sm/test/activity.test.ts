import { Writable } from "node:stream";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { createClientActivity } from "../src/clients/activity.ts";
import { schema } from "../src/migrate.ts";
import { call } from "./support/call.ts";
import { createFolder, createMachine } from "./support/machines.ts";
import { register } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const postgres = await testPostgres(t, { own: true });
const service = await startAuthSm(t, {}, { postgres });
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);

const logged: string[] = [];
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged.push(chunk.toString());
    done();
  },
});
const telemetry = createTelemetry({ service: "auth-sm", destination });
const database = createDatabase({ url: postgres.url, schema, telemetry });
t.teardown(() => database.close());
const activity = createClientActivity(database, telemetry.log);
t.teardown(() => activity.close());

const at = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
const lastIp = async (): Promise<string | null | undefined> => {
  const path = `/api/org/applications/${machine.applicationId}/clients`;
  return (await call(service, "GET", path, { token: owner.token })).body.data[0]?.last_ip;
};

await t.test("what is no address is not noted and stands in nobody's way", async (t) => {
  activity.seen(machine.clientId, "203.0.113.1", at(1));
  activity.seen(machine.clientId, "unknown", at(2));
  await until("the sighting before it is noted", async () => (await lastIp()) === "203.0.113.1");
  t.strictSame(logged, []);
});

await t.test("sightings that the database refuses are dropped, not tried for ever", async (t) => {
  activity.seen("no client's id", "203.0.113.2", at(3));
  await until("it was refused", () => logged.length > 0);
  t.equal(logged.length, 1);
  t.match(logged[0], /"level":"error".*could not note when clients were last seen/);
  activity.seen(machine.clientId, "203.0.113.3", at(4));
  await until("the next one is noted", async () => (await lastIp()) === "203.0.113.3");
  t.equal(logged.length, 1);
});

await t.test("sightings made while the database is away are noted when it is back", async (t) => {
  await postgres.stop();
  activity.seen(machine.clientId, "203.0.113.4", at(5));
  await until("it was tried", () => /"level":"warn".*will try again/.test(logged.at(-1) ?? ""));
  await postgres.start();
  await until("it is noted", async () => (await lastIp()) === "203.0.113.4");
  t.pass();
});

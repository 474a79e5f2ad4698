import { randomBytes, randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createRandom, testAuthority, testDirectory, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { type Receiver, startReceiver } from "../../../../services/siem-forwarder/test/delivery/receivers/receiver.ts";
import {
  azure,
  datadogKey,
  elasticKey,
  hecToken,
  startAzure,
  startDatadog,
  startElastic,
  startHec,
} from "../../../../services/siem-forwarder/test/delivery/receivers/vendors.ts";
import { password } from "../cli/cli-person.ts";
import { readAudit, type Recorded } from "./audit.ts";
import { send, demand } from "./caller.ts";
import { isReady, killService } from "./inject.ts";
import type { Ledger } from "./ledger.ts";
import { newOrganization } from "./organization.ts";
import { bodyOf, newUid, read, write } from "./secrets/workers.ts";
import { npmStart } from "../npm-start.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? randomInt(2 ** 31));
t.comment(`FAULTS_SEED=${seed} brings back the same load`);
const patient = 180;
const file = t;

/** A record of the chain, as far as it is compared. */
interface Chained extends Recorded {
  id: string;
  seq: number;
  hash: string;
}

const authority = testAuthority();
const directory = testDirectory(t);
const authorityFile = join(testDirectory(t), "authority.pem");
writeFileSync(authorityFile, authority.cert);
const signingSecret = `whsec_${randomBytes(24).toString("hex")}`;
const coffer = npmStart(t, {
  directory,
  env: {
    COFFER_PROCESSES: "separate",
    COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
    COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8",
    COFFER_STRIPE_WEBHOOK_SECRETS: signingSecret,
    NODE_EXTRA_CA_CERTS: authorityFile,
  },
});
const { url } = await coffer.ready;
const organization = await newOrganization(t, url, "owner@example.com");
const { cli, person, writers, readers, slots } = organization;
const ledger: Ledger = organization.ledger;
const { organizations } = JSON.parse(await cli.data(["whoami", "--json"])) as { organizations: [{ id: string }] };
const orgId = organizations[0].id;
const bill = (type: string, ...options: string[]) =>
  cli.data(["dev", "stripe-event", type, "--org", orgId, ...options], {
    env: { COFFER_STRIPE_WEBHOOK_SECRETS: signingSecret },
  });
await bill("customer.subscription.created", "--price", "business");
await cli.data(["vault", "create", "Shared"]);

const database = new pg.Client({ connectionString: coffer.state().stores.postgres });
await database.connect();
t.teardown(() => database.end());

const healthy = await startHec(t, { tls: authority.issue(["localhost"]) });
const dead = await startDatadog(t);
const { port: deadPort } = new URL(dead.url);
await dead.stop();
const mute = await startElastic(t);
mute.interfere = () => new Promise(() => undefined);
const picky = await startHec(t);
/** The secret whose records are refused. */
const poison = newUid();
picky.interfere = ({ body }) => (body.includes(poison) ? { status: 400, body: { code: 6 } } : null);
const redirecting = await startAzure(t);
const trap = await startReceiver(t, () => ({ status: 204 }));
redirecting.interfere = ({ path }) =>
  path.endsWith("/token") ? null : { status: 307, headers: { location: `${trap.url}/` } };

/** Makes an endpoint; it gets the records after that of its creation. */
async function endpoint(format: string, address: string, credentials: object): Promise<string> {
  const body = { format, url: address, credentials };
  const made = await until(
    "the plan has SIEM endpoints",
    async () => {
      const answer = await send(url, {
        method: "POST",
        path: "/api/org/siem/webhooks",
        body,
        bearer: person.bearer(),
      });
      return answer.status === 201 ? answer.body : null;
    },
    patient,
  );
  return made["id"] as string; // as the interface describes it
}

const ids = {
  healthy: await endpoint("hec", healthy.url, { token: hecToken }),
  dead: await endpoint("logs_intake", dead.url, { api_key: datadogKey }),
  mute: await endpoint("ecs", `${mute.url}/coffer-audit/_bulk`, { api_key: elasticKey }),
  picky: await endpoint("hec", picky.url, { token: hecToken }),
  redirecting: await endpoint("log_analytics", redirecting.url, { ...azure, login_url: redirecting.url }),
};

interface Last {
  status: number | null;
  error: string | null;
}
/** What the list of endpoints says of the last delivery of each, by id. */
async function lastDeliveries(): Promise<Map<string, Last | null>> {
  const path = "/api/org/siem/webhooks";
  const { data } = await demand(url, { method: "GET", path, bearer: person.bearer() });
  const list = data as { id: string; last_delivery: Last | null }[]; // as the interface describes it
  return new Map(list.map(({ id, last_delivery: last }) => [id, last]));
}

const taken = (receiver: Receiver): Chained[] =>
  receiver.taken.map((event) => {
    const document = event as { event?: { id: string }; coffer?: Chained };
    // Elastic has the id of a record among the fields of its schema.
    return document.event === undefined || document.coffer === undefined
      ? (event as Chained)
      : { ...document.coffer, id: document.event.id };
  });

let again: Receiver = dead;
/** The whole chain, once everything has arrived. */
let chain: Chained[] = [];
const load = new AbortController();
t.teardown(() => load.abort());
let workers = 0;
const worker = (name: string) => ({
  name: `${name}-${(workers += 1)}`,
  url,
  ledger,
  random: createRandom(seed + workers),
  stopping: load.signal,
});
const working = [
  ...writers.map((caller) => write({ ...worker("write"), caller, slots })),
  ...readers.map((caller) => read({ ...worker("read"), caller, slots })),
];

/** Reads the secret until it is answered. */
async function readSecret(uid: string): Promise<void> {
  const question = { method: "GET", path: person.secret(uid) } as const;
  const isRead = async () => (await send(url, { ...question, bearer: person.bearer() })).status === 200;
  await until(`${uid} is read`, isRead, patient);
}

/** Makes a secret and reads it; resolves when the healthy endpoint has the record of the reading. */
async function arrivesAtHealthy(): Promise<void> {
  const uid = newUid();
  await makeSecret(uid);
  await readSecret(uid);
  await until(
    `the reading of ${uid} arrives`,
    () => taken(healthy).some(({ action, target }) => action === "secret.read" && target.id === uid),
    patient,
  );
}

async function makeSecret(uid: string): Promise<void> {
  const content = randomBytes(24).toString("base64");
  const body = { ...bodyOf(uid, content), ...person.creates, uid, record_type: "note" };
  await until(
    `${uid} is made`,
    async () =>
      [201, 409].includes(
        (await send(url, { method: "POST", path: person.list, body, bearer: person.bearer() })).status,
      ),
    patient,
  );
}

/** Ciphertexts of records. */
const sealedRecords: string[] = [];
const { data: vaults } = await demand(url, { method: "GET", path: "/api/vaults", bearer: person.bearer() });
const [vault] = vaults as [{ id: string }]; // as the interface describes it

/** Puts a record into the vault. */
async function makeRecord(): Promise<void> {
  const sealed = randomBytes(24).toString("base64");
  sealedRecords.push(sealed);
  const body = { type: "login", encrypted_data: sealed };
  await demand(url, { method: "POST", path: `/api/vaults/${vault.id}/records`, body, bearer: person.bearer() });
}

await t.test("each endpoint fails in its own way, and the healthy one gets everything meanwhile", async (t) => {
  await makeSecret(poison);
  for (let reads = 0; reads < 5; reads += 1) await readSecret(poison);
  await until("the one that never answers has a request", () => mute.requests.length > 0, patient);
  await arrivesAtHealthy();
  const expected: [id: string, last: object][] = [
    [ids.dead, { status: null, error: "the endpoint refuses connections" }],
    [ids.mute, { status: null, error: "the endpoint did not answer in time" }],
    [ids.redirecting, { status: 307, error: /answered 307, a redirect/ }],
  ];
  for (const [id, last] of expected) {
    await until(`${id} has failed`, async () => ((await lastDeliveries()).get(id) ?? null) !== null, patient);
    t.match((await lastDeliveries()).get(id), last);
  }
  await until(
    "records are parked",
    async () => {
      const { records } = await readAudit(url, person);
      return records.some(({ action, target }) => action === "siem.webhook.delivery.failed" && target.id === ids.picky);
    },
    patient,
  );
  t.equal(mute.taken.length + redirecting.taken.length, 0);
  await arrivesAtHealthy();
});

await t.test(
  "siem-forwarder is killed between a delivery and its response, and continues at its position",
  async () => {
    let held = false;
    healthy.interfere = async ({ body }) => {
      held = true;
      const lines = body.toString().split("\n");
      healthy.taken.push(...lines.map((line) => (JSON.parse(line) as { event: unknown }).event));
      return new Promise(() => undefined);
    };
    await until("a delivery is under way", () => held, patient);
    await killService(coffer, "siem-forwarder");
    healthy.interfere = null;
    await until("everything answers", () => isReady(coffer), patient);
    await arrivesAtHealthy();
  },
);

await t.test("NATS is away until each service has records waiting; siem-forwarder is killed meanwhile", async (t) => {
  const pid = coffer.state().store_pids["nats"] ?? 0;
  process.kill(pid, "SIGSTOP");
  const waiting = async (schema: string): Promise<boolean> =>
    ((await database.query(`SELECT FROM ${schema}.outbox LIMIT 1`)).rowCount ?? 0) > 0;
  try {
    await bill("invoice.paid");
    await until("auth-sm's queue waits", () => waiting("auth_sm"), patient);
    await until("billing-webhook's queue waits", () => waiting("billing_webhook"), patient);
    await makeRecord();
    await until("vaults' queue waits", () => waiting("vaults"), patient);
    await killService(coffer, "siem-forwarder");
    t.ok(await waiting("auth_sm"));
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until("everything answers", () => isReady(coffer), patient);
  await arrivesAtHealthy();
});

await t.test("the endpoints work again, and everything arrives at each", async () => {
  load.abort();
  await Promise.all(working);
  mute.interfere = null;
  redirecting.interfere = null;
  for (const schema of ["auth_sm", "vaults", "billing_webhook"])
    await until(
      `${schema} has sent everything`,
      async () => (await database.query(`SELECT FROM ${schema}.outbox LIMIT 1`)).rowCount === 0,
      patient,
    );
  again = await startDatadog(file, { port: Number(deadPort) });
  for (const id of Object.values(ids))
    await demand(url, {
      method: "PATCH",
      path: `/api/org/siem/webhooks/${id}`,
      body: { enabled: true },
      bearer: person.bearer(),
    });
  await until(
    "no endpoint is behind",
    async () => {
      const { rows } = await database.query<{ behind: string }>(
        `SELECT count(*) AS behind FROM siem_forwarder.siem_endpoints e
         JOIN siem_forwarder.audit_chains c ON c.id = e.org_id WHERE e.position < c.seq`,
      );
      return rows[0]?.behind === "0";
    },
    patient,
  );
  chain = (await readAudit(url, person)).records as Chained[];
});
const receivers: [name: keyof typeof ids, receiver: Receiver][] = [
  ["healthy", healthy],
  ["dead", again],
  ["mute", mute],
  ["picky", picky],
  ["redirecting", redirecting],
];

for (const [name, receiver] of receivers)
  await t.test(`${name}: every record of the chain arrived, in order, repeated ones by their id`, (t) => {
    const id = ids[name];
    const created = chain.findIndex(({ action, target }) => action === "siem.webhook.created" && target.id === id);
    const due = chain
      .slice(created + 1)
      .filter(({ action, target }) => action !== "siem.webhook.delivery.failed" || target.id !== id)
      .filter((record) => name !== "picky" || !JSON.stringify(record).includes(poison));
    t.ok(created >= 0 && due.length > 100, `${due.length} records`);
    const arrived = taken(receiver);
    const seen = new Map<string, string>();
    const first = arrived.filter(({ id: record, hash }) => {
      const before = seen.get(record);
      if (before === undefined) seen.set(record, hash);
      else if (before !== hash) t.fail(`${record} arrived in two versions`);
      return before === undefined;
    });
    t.same(
      first.map(({ seq, id: record, hash }) => [seq, record, hash]),
      due.map(({ seq, id: record, hash }) => [seq, record, hash]),
    );
    if (name !== "mute") t.same(first, due, "as they are in the chain");
    t.comment(`${arrived.length - first.length} arrived again`);
    if (name === "healthy") t.ok(arrived.length > first.length, "what was not acknowledged came again");
    t.end();
  });

await t.test("refused records are counted, redirects are not followed, and the chain is complete", async (t) => {
  const at = chain.findIndex(({ action, target }) => action === "siem.webhook.created" && target.id === ids.picky);
  const refused = chain.slice(at + 1).filter((record) => JSON.stringify(record).includes(poison));
  const reports = chain.filter(
    ({ action, target }) => action === "siem.webhook.delivery.failed" && target.id === ids.picky,
  ) as (Chained & { count: number })[];
  t.equal(reports.length, 1, "one report an hour");
  const { rows } = await database.query<{ parked: number }>(
    "SELECT parked::int AS parked FROM siem_forwarder.siem_endpoints WHERE id = $1",
    [ids.picky],
  );
  t.equal((reports[0]?.count ?? 0) + (rows[0]?.parked ?? 0), refused.length);
  t.equal(trap.requests.length, 0);
  t.notOk(chain.some(({ action }) => action === "audit.gap"));
  t.ok(chain.some(({ action }) => action === "billing.invoice.paid"));
  t.ok(chain.some(({ action }) => action === "record.created"));
  t.same(ledger.violations, []);
  t.match(await cli.run(["audit", "verify"]), { code: 0, stdout: /^\d+:[0-9a-f]{64}\n$/ });
});

await t.test("no secret is in anything that was delivered", (t) => {
  const profile = readFileSync(join(cli.home, "coffer/profile.json"), "utf8");
  const secrets = [
    password,
    signingSecret,
    hecToken,
    datadogKey,
    elasticKey,
    azure.client_secret,
    ...[person, ...writers, ...readers].map((caller) => caller.bearer()),
    ...[...profile.matchAll(/"([^"]{20,})"/g)].map(([, value]) => value ?? "").filter((each) => !isId(each)),
    ...sealedRecords,
    // All are of the same kind: some of them will do.
    ...slots
      .slice(-100)
      .flatMap(({ uid, writes }) => [
        `fault ${uid}`,
        ...writes.flatMap(({ content }) => (content === null ? [] : [content])),
      ]),
  ];
  t.ok(secrets.length > 50 && secrets.every((each) => each.length >= 12), `${secrets.length} secrets`);
  const delivered = receivers.flatMap(([, { requests }]) =>
    requests
      .filter(({ path }) => !path.endsWith("/token"))
      .map(({ headers, body }) => (headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString()),
  );
  const all = delivered.join("\n");
  const isIn = (secret: string): boolean => all.includes(secret) || all.includes(JSON.stringify(secret).slice(1, -1));
  t.ok(all.includes(poison), "records do name secrets by their id");
  t.same(secrets.filter(isIn), []);
  t.end();
});

/** Ids, addresses and times of the profile are no secrets. */
function isId(text: string): boolean {
  return /^[0-9a-f-]{36}$|^https?:|^\d{4}-\d\d-\d\dT|^[0-9a-f]{64}$/.test(text);
}

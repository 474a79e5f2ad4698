import { randomInt } from "node:crypto";
import t from "tap";
import { createRandom, testDirectory } from "@coffer/testkit";
import { auditProblems, readAudit } from "./audit.ts";
import { fleetProblems } from "./bootstraps/verify.ts";
import { send, freshAddress } from "./caller.ts";
import { watchLimiter } from "./limiter.ts";
import {
  type Hold,
  holdTable,
  isReady,
  killService,
  killStore,
  settled,
  stallPostgres,
  type StoreName,
} from "./inject.ts";
import { isFoundDone, type Ledger } from "./ledger.ts";
import { sessionProblems } from "./logins/verify.ts";
import { newOrganization, work } from "./organization.ts";
import { expectedContents, presentContents } from "./secrets/verify.ts";
import { living, npmStart, processesOf, until } from "../npm-start.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? randomInt(2 ** 31));
t.comment(`FAULTS_SEED=${seed} brings back this order and these moments`);
const random = createRandom(seed);

const strictLimit = 10;
// The test is the proxy before Coffer: each request of the load has its own address, with default limits.
const directory = testDirectory(t);
const coffer = npmStart(t, {
  directory,
  env: {
    COFFER_PROCESSES: "separate",
    COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
    COFFER_LIMIT_STRICT: String(strictLimit),
  },
});
const first = await coffer.ready;
const { url } = first;
const limiter = watchLimiter(directory, coffer);

const organizations = [
  await newOrganization(t, url, "one@example.com"),
  await newOrganization(t, url, "two@example.com"),
];
const load = new AbortController();
const names: [Ledger, string][] = [];
const working = organizations.flatMap((organization, org) => {
  const { ledger } = organization;
  return work(organization, (what) => {
    const name = `${what}-${org}`;
    names.push([ledger, name]);
    return { name, url, ledger, random: createRandom(seed + names.length), stopping: load.signal };
  });
});
t.teardown(() => load.abort());
const counts = (): number[] => names.map(([ledger, name]) => ledger.acknowledged.get(name) ?? 0);
const total = (): number => counts().reduce((sum, count) => sum + count, 0);

/** Waits until each worker has more acknowledged requests. */
async function progress(): Promise<void> {
  const before = counts();
  await until(() => counts().every((count, at) => count >= (before[at] ?? 0) + 3));
}

/** Repeats one strict request until it is answered; returns whether it was accepted. */
async function isLetIn(address: string): Promise<boolean> {
  const question = { method: "POST", path: "/api/sm/v1/bootstrap", body: {}, address } as const;
  let status = 0;
  await until(async () => {
    ({ status } = await send(url, question));
    return status !== 0 && status !== 503;
  });
  return status !== 429;
}

async function letIn(address: string, times: number): Promise<number> {
  let count = 0;
  for (let asked = 0; asked < times; asked += 1) count += (await isLetIn(address)) ? 1 : 0;
  return count;
}

interface Fault {
  what: string;
  inject: () => Promise<unknown>;
}

const authSm = () => killService(coffer, "auth-sm");
const siemForwarder = () => killService(coffer, "siem-forwarder");
const stores = (...names: StoreName[]) => Promise.all(names.map((name) => killStore(coffer, name)));
const hold = (table: string, mode: Hold["mode"], waiting: number, meanwhile: () => Promise<void>) =>
  holdTable(coffer, { table, mode, waiting }, meanwhile);
const faults: Fault[] = [
  { what: "auth-sm is killed", inject: authSm },
  { what: "auth-sm and siem-forwarder are killed", inject: () => Promise.all([authSm(), siemForwarder()]) },
  { what: "Redis is killed", inject: () => stores("redis") },
  { what: "NATS and siem-forwarder are killed", inject: () => Promise.all([stores("nats"), siemForwarder()]) },
  { what: "Postgres and auth-sm are killed", inject: () => Promise.all([stores("postgres"), authSm()]) },
  { what: "every store is killed", inject: () => stores("redis", "nats", "postgres") },
  { what: "Postgres hangs", inject: () => stallPostgres(coffer) },
  {
    what: "auth-sm is killed while secrets wait for a lock",
    inject: () => hold("auth_sm.secrets", "ACCESS EXCLUSIVE", 1, authSm),
  },
  {
    what: "auth-sm is killed while a bootstrap waits for a lock",
    inject: () => hold("auth_sm.client_folders", "SHARE", 1, authSm),
  },
  {
    what: "auth-sm is killed while sessions wait for a lock",
    inject: () => hold("auth_sm.sessions", "SHARE", 1, authSm),
  },
  {
    what: "auth-sm is killed while nothing can be recorded",
    inject: () => hold("auth_sm.outbox", "SHARE", 6, authSm),
  },
  {
    what: "siem-forwarder is killed while the audit waits for a lock",
    inject: () => hold("siem_forwarder.audit_records", "ACCESS EXCLUSIVE", 1, siemForwarder),
  },
];

await progress();
for (const { what, inject } of random.shuffled(faults))
  await t.test(`${what}: it recovers by itself, and limits hold`, async (t) => {
    const address = await limiter.countedInRedis(async () => {
      const one = freshAddress();
      t.equal(await letIn(one, strictLimit + 1), strictLimit);
      return one;
    });
    const begin = total() + random.below(60);
    await until(() => total() >= begin);
    const began = performance.now();
    await inject();
    await until(() => isReady(coffer));
    t.comment(`ready ${Math.round(performance.now() - began)} ms after it began`);
    await progress();
    const again = await limiter.countedInRedis(() => letIn(address, 2));
    t.equal(again, 0, "an exhausted limit stays exhausted");
  });

await t.test("without help the same program runs with all its processes, and catches up", async (t) => {
  load.abort();
  await Promise.all(working);
  await settled(coffer);
  const state = coffer.state();
  t.equal(state.pid, first.pid);
  t.same(living(processesOf(state)), processesOf(state));
  t.ok(await isReady(coffer));
  t.same(Object.keys(state.services), Object.keys(first.services));
  t.ok(
    organizations.some(({ ledger }) => ledger.deeds.some(isFoundDone)),
    "answers to what was done were lost",
  );
});

for (const [at, { cli, person, ledger, slots, fleet, member }] of organizations.entries())
  await t.test(
    `organization ${at}: acknowledged requests are stored completely, and audited exactly once`,
    async (t) => {
      const acknowledged = ledger.deeds.filter((deed) => deed.acknowledged).length;
      const attempts = ledger.deeds.flatMap((deed) => deed.attempts);
      const unanswered = attempts.filter(({ status }) => status === 0 || status === 503).length;
      t.comment(`${acknowledged} acknowledged, ${unanswered} attempts not answered or refused as unavailable`);
      const found = ledger.deeds.filter(isFoundDone).length;
      t.comment(
        `${fleet.machines.length} machines, ${member.sessions.length} sessions, ${found} lost answers to what was done`,
      );
      t.same(ledger.violations, [], "no response was wrong");
      t.ok(unanswered > 0, "the faults were felt");
      const audit = await readAudit(url, person);
      t.same(auditProblems(ledger, audit), [], "the audit");
      const { contents, problems } = expectedContents(slots, audit);
      t.same(problems, [], "acknowledged writes");
      t.same(sorted(await presentContents(url, person)), sorted(contents), "the contents, and no other secrets");
      t.same(await fleetProblems(url, person, fleet, audit), [], "the machines and their tokens");
      t.same(await sessionProblems(url, member, audit), [], "the sessions");
      t.notOk(audit.records.some(({ action }) => action === "audit.gap"));
      t.match(await cli.run(["audit", "verify"]), { code: 0, stdout: /^\d+:[0-9a-f]{64}\n$/ }, "the chain");
    },
  );

function sorted(contents: ReadonlyMap<string, string>): [string, string][] {
  return [...contents].sort(([a], [b]) => (a < b ? -1 : 1));
}

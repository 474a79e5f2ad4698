import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { routes } from "../src/routes.ts";
import { accountTable } from "./authorization/accounts.ts";
import { type Caller, gather } from "./authorization/cast.ts";
import { digestOf } from "./authorization/digest.ts";
import { folderSecretTable, folderTable } from "./authorization/folders.ts";
import { machineMarks, machineTable } from "./authorization/machines.ts";
import { openRequests } from "./authorization/open.ts";
import { applicationTable, orgTable, personMarks } from "./authorization/people.ts";
import { inParallel } from "./authorization/parallel.ts";
import { recordsOf } from "./authorization/records.ts";
import { requestOf, type Scene } from "./authorization/requests.ts";
import { type Cell, readTable } from "./authorization/tables.ts";
import { addInvite, addSession, makeTargets } from "./authorization/targets.ts";
import { call } from "./support/call.ts";
import { createMachine, createToken, newKeyPair } from "./support/machines.ts";
import { rotationOf } from "./support/rotation.ts";
import { startAuthSm } from "./support/service.ts";

// Every endpoint, every kind of caller, every choice of ids.

const peoples = [folderTable, folderSecretTable, applicationTable, orgTable, accountTable].flatMap((table) =>
  readTable(table, personMarks),
);
const machines = readTable(machineTable, machineMarks);
const keyOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

const stated = new Set([...[...peoples, ...machines].map(({ endpoint }) => endpoint), ...Object.keys(openRequests)]);
t.strictSame([...stated].sort(), routes.map(keyOf).sort(), "each endpoint has its expectations, and none has gone");

const service = await startAuthSm(t);
const { observer } = service;
const { callers, pool, ours, foreign, grantees } = await gather(service);
t.teardown(() => pool.end());
const newTargets = () => makeTargets(pool, ours.orgId, ours.boss.userId, grantees.ours);
const newForeign = () => makeTargets(pool, foreign.orgId, foreign.boss.userId, grantees.foreign);
const rotationFor = (folderId: string) => rotationOf(service, ours.boss, folderId);

const callerOf = (name: string): Caller => {
  const caller = callers.get(name);
  if (caller === undefined) throw new Error(`there is no caller ${name}`);
  return caller;
};
const nameOf = ({ endpoint, words, caller }: Cell): string => `${caller}: ${endpoint} (${words.join(" ")})`;

/** An endpoint treats a caller with another kind of token as unauthenticated, for every target. */
function strangersTo(cells: readonly Cell[]): Cell[] {
  const known = new Set(cells.map(({ caller }) => caller));
  const asked = new Map(cells.toReversed().map((cell) => [cell.endpoint, cell]));
  const others = [...callers.keys()].filter((name) => !known.has(name));
  return [...asked.values()].flatMap((cell) =>
    others.map((caller) => ({ ...cell, caller, status: 401, error: "invalid_token" })),
  );
}

const noneOwn = { ownSession: randomUUID(), ownInvite: randomUUID() };

interface Outcome {
  cell: Cell;
  requestId: string;
  got: string;
}
const wanted = ({ status, error }: Cell): string => `${status} ${error ?? "-"}`;

async function ask(cell: Cell, scene: Scene): Promise<Outcome> {
  const caller = callerOf(cell.caller);
  const requestId = randomUUID();
  const { method, path, body } = requestOf(cell, { ...scene, person: caller.person });
  const headers = { ...caller.headers, "x-request-id": requestId };
  const answer = await call(service, method, path, { token: caller.token(), headers, body });
  return { cell, requestId, got: `${answer.status} ${answer.status < 400 ? "-" : answer.body.error}` };
}

const differing = (outcomes: readonly Outcome[]): string[] =>
  outcomes
    .filter(({ cell, got }) => got !== wanted(cell))
    .map(({ cell, got }) => `${nameOf(cell)}: ${got} instead of ${wanted(cell)}`);

const cells = [...peoples, ...machines, ...strangersTo(peoples), ...strangersTo(machines)];

await t.test(
  "what is refused is refused as the interface says, changes nothing, and leaves its record",
  { timeout: 600_000 },
  async (t) => {
    const targets = await newTargets();
    const rotation = await rotationFor(targets.folder.granted);
    const scene: Scene = { targets, foreign: await newForeign(), person: null, ...noneOwn, rotation };
    const before = await digestOf(pool);
    const refused = await inParallel(
      cells.filter(({ error }) => error !== null),
      (cell) => ask(cell, scene),
    );
    t.strictSame(differing(refused), []);
    t.strictSame(await digestOf(pool), before, "nothing has changed");
    const expected = refused.flatMap((outcome) =>
      recordsOf(outcome.cell, callerOf(outcome.cell.caller), ours, foreign).map((record) => ({ ...outcome, record })),
    );
    const found = (): Map<string, AuditDraft[]> => Map.groupBy(observer.records, ({ request }) => request.id);
    await until("the records", () => {
      const all = found();
      return expected.every(({ requestId }) => all.has(requestId));
    }).catch(() => t.fail("some records are missing"));
    const all = found();
    const wrong: string[] = [];
    for (const { cell, requestId, record } of expected) {
      const text = (all.get(requestId) ?? []).map(({ action, outcome, reason, org_id }) =>
        [action, outcome, reason, org_id ?? "-"].join(" "),
      );
      if (text.length !== 1 || text[0] !== record) wrong.push(`${nameOf(cell)}: ${text.join()} instead of ${record}`);
    }
    t.strictSame(wrong, []);
    const recorded = new Set(expected.map(({ requestId }) => requestId));
    const silent = refused.filter(({ requestId }) => !recorded.has(requestId) && all.has(requestId));
    t.strictSame(
      silent.map(({ cell }) => nameOf(cell)),
      [],
      "and nothing else leaves one",
    );
  },
);

await t.test("allowed requests succeed, each caller on new objects", { timeout: 600_000 }, async (t) => {
  const shared = await newTargets();
  const sharedForeign = await newForeign();
  const rotation = await rotationFor(shared.folder.granted);
  const sceneFor = async ({ endpoint, words, caller }: Cell): Promise<Scene> => {
    const { person } = callerOf(caller);
    const scene = { targets: shared, foreign: sharedForeign, person, ...noneOwn, rotation };
    if (endpoint.startsWith("GET ") || !endpoint.includes(":")) {
      if (!words.includes("own") || person === null) return scene;
      return { ...scene, ownInvite: await addInvite(pool, foreign.orgId, foreign.boss.userId, person.email) };
    }
    if (words.includes("own") && person !== null)
      return { ...scene, ownSession: await addSession(pool, person.userId) };
    const targets = await newTargets();
    return {
      ...scene,
      targets,
      foreign: words.includes("foreign") ? await newForeign() : sharedForeign,
      rotation: /\/rotat(e|ion\/:rotation_id)$/.test(endpoint) ? await rotationFor(targets.folder.granted) : rotation,
    };
  };
  const allowed = cells.filter(({ error }) => error === null);
  for (const [what, alike] of Map.groupBy(allowed, ({ endpoint, words }) => `${endpoint} (${words.join(" ")})`)) {
    const outcomes = await inParallel(alike, async (cell) => ask(cell, await sceneFor(cell)));
    t.strictSame(differing(outcomes), [], what);
  }
});

await t.test("public endpoints ignore the caller, and check the body", async (t) => {
  const bosses = { ours: ours.boss, foreign: foreign.boss };
  for (const [endpoint, requests] of Object.entries(openRequests)) {
    const [method = "", path = ""] = endpoint.split(" ");
    for (const [what, { status, error, body: bodyOf }] of Object.entries(requests)) {
      const answers = await inParallel(["nobody", "noise", "I", "F", "E"], async (name) => {
        const body = await bodyOf(service, bosses);
        const answer = await call(service, method, path, { token: callerOf(name).token(), body });
        return `${name}: ${answer.status} ${answer.status < 400 ? "-" : answer.body.error}`;
      });
      const expected = ["nobody", "noise", "I", "F", "E"].map((name) => `${name}: ${status} ${error ?? "-"}`);
      t.strictSame(answers, expected, `${endpoint}: ${what}`);
    }
  }
});

await t.test("a machine belongs to the organization of its token, and a refused id spends none", async (t) => {
  for (const { boss, orgId } of [ours, foreign]) {
    const { token } = await createToken(service, boss, []);
    const body = { token, public_key: newKeyPair().spki };
    const { clientId } = await createMachine(service, ours.boss, []);
    const taken = await call(service, "POST", "/api/sm/v1/bootstrap", { body: { ...body, client_id: clientId } });
    t.equal(taken.status, 400);
    const client_id = randomUUID();
    const answer = await call(service, "POST", "/api/sm/v1/bootstrap", { body: { ...body, client_id } });
    t.match(answer, { status: 200, body: { client_id, org_id: orgId } });
  }
});

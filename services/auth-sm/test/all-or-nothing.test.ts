import type { AuditDraft } from "@coffer/events";
import { type Change, type Resource, sign } from "@coffer/history";
import { until } from "@coffer/testkit";
import t from "tap";
import { routes } from "../src/routes.ts";
import { call } from "./support/call.ts";
import {
  createJoiningMachine,
  createSignedFolder,
  folderRes,
  holder,
  machineJoinEntry,
  memberHolder,
  orgRes,
  registerSigner,
  type Signer,
  someCheck,
} from "./support/histories.ts";
import {
  bearer,
  createApplication,
  createFolder,
  createMachine,
  createSecret,
  createToken,
  newKeyPair,
  secretBody,
} from "./support/machines.ts";
import { execute, invite, join, share, startCompany } from "./support/members.ts";
import { logIn, loginProof, newEmail, type Person, register, registration, sealed } from "./support/people.ts";
import { beginRecovery, codeAt, newPassword, proofOf, protect, registerRecoverable } from "./support/proofs.ts";
import { jwe, rotationOf } from "./support/rotation.ts";
import { startAuthSm } from "./support/service.ts";

const service = await startAuthSm(t);
// What is begun below stays good however long the rest takes.
service.clock.stop();
const { orgId, owner, member, admin, auditor } = await startCompany(service);
const folder = await createFolder(service, owner);
const empty = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const uid = await createSecret(service, machine, folder);
const application = `/api/org/applications/${await createApplication(service, owner)}`;
const token = await createToken(service, owner, [{ folder_id: folder, permission: "read" }]);
const unused = await createToken(service, owner, [], { applicationId: token.applicationId });
const tokens = `/api/org/applications/${token.applicationId}/tokens`;
const client = `/api/org/applications/${machine.applicationId}/clients/${machine.clientId}`;
const field = "password";
const stored = await createSecret(service, machine, folder, { title: "database", fields: { [field]: sealed() } });
const content = { encrypted_payload: sealed(), wrapped_dek: sealed() };
const asOwner = { token: owner.token };
const asMachine = { token: bearer(machine) };
const inFolder = `/api/org/folders/${folder}/secrets`;

const rotated = await createFolder(service, owner);
const shared = await createFolder(service, owner);
await share(service, shared, auditor, "read");
const [changed, removed] = [await createSecret(service, machine, folder), await createSecret(service, machine, folder)];
const watched = await register(service);
await join(service, orgId, watched, "member");
const otherSession = await logIn(service, watched);
const tokenOf = ({ token }: Person) => ({ token });
const [founder, invited, loggingIn] = [await register(service), await register(service), await register(service)];
const invitation = (await invite(service, owner, { email: invited.email, role: "member" })).body;
const withdrawn = (await invite(service, owner, { email: newEmail(), role: "member" })).body;
const registering = { ...(await registration(service)), org_name: "Registered" };
const changing = await register(service);
const change = { ...(await proofOf(service, changing)), ...(await newPassword(service, changing, "another one")) };
const securing = await register(service);
const secret = (
  await call(service, "POST", "/api/auth/totp", { ...tokenOf(securing), body: await proofOf(service, securing) })
).body.secret;
const secured = await protect(service);
const unsecure = await proofOf(service, secured, secured.recoveryCodes[0]);
const recovery = await beginRecovery(service, await registerRecoverable(service), "recovered");
const several = await register(service);
const second = await logIn(service, several);
await logIn(service, several);

const signer = await registerSigner(service);
const plain = await registerSigner(service, { history: false });
const adoptable = await createFolder(service, signer, "adoptable");
const joinable = await createSignedFolder(service, signer);
const joining = await createJoiningMachine(service, signer, [{ folder_id: joinable, permission: "read" }]);
const signed = async (by: Signer, res: Resource, first: Change): Promise<{ entry: string }> => ({
  entry: (await sign(null, res, `user:${by.userId}`, by.privateKey, first)).text,
});
const adoptedOrg = await signed(plain, orgRes(plain.orgId), {
  name: "A signed organization",
  set: [memberHolder(plain, "manage")],
});
const adoptedFolder = await signed(signer, folderRes(adoptable), {
  ...{ org: signer.orgId, name: "adoptable", ver: 1, check: someCheck() },
  set: [holder(signer, "manage")],
});

/** One call for each kind of change, all of which can be made, one after the other. */
const changes: [method: string, path: string, options: { token?: string; body?: unknown }][] = [
  ["POST", "/api/org/folders", { ...asOwner, body: { name: "another", encrypted_key: sealed() } }],
  ["PATCH", `/api/org/folders/${folder}`, { ...asOwner, body: { name: "renamed" } }],
  ["DELETE", `/api/org/folders/${empty}`, asOwner],
  ["POST", "/api/org/applications", { ...asOwner, body: { name: "another" } }],
  ["PATCH", application, { ...asOwner, body: { name: "renamed" } }],
  ["DELETE", application, asOwner],
  ["POST", tokens, { ...asOwner, body: { name: "another", folders: [] } }],
  ["DELETE", `${tokens}/${unused.id}`, asOwner],
  ["POST", "/api/sm/v1/bootstrap", { body: { token: token.token, public_key: newKeyPair().spki } }],
  ["POST", "/api/sm/v1/secrets", { ...asMachine, body: secretBody(folder) }],
  ["PUT", `/api/sm/v1/secrets/${uid}`, { ...asMachine, body: content }],
  ["DELETE", `/api/sm/v1/secrets/${uid}`, asMachine],
  ["PUT", `${client}/folders/${shared}`, { ...asOwner, body: { permission: "read", encrypted_key: jwe } }],
  ["DELETE", `${client}/folders/${folder}`, asOwner],
  ["DELETE", client, asOwner],
  ["POST", "/api/org/invites", { ...asOwner, body: { email: "new@example.com", role: "member" } }],
  ["PATCH", `/api/org/members/${member.userId}`, { ...asOwner, body: { role: "auditor" } }],
  ["DELETE", `/api/org/members/${member.userId}`, asOwner],
  ["POST", "/api/auth/logout", { token: admin.token }],
  ["POST", inFolder, { ...asOwner, body: { record_type: "login", ...content } }],
  ["PUT", `${inFolder}/${changed}`, { ...asOwner, body: content }],
  ["DELETE", `${inFolder}/${removed}`, asOwner],
  ["POST", `/api/org/folders/${rotated}/rotate`, { ...asOwner, body: await rotationOf(service, owner, rotated) }],
  [
    "PUT",
    `/api/org/folders/${shared}/members/${watched.userId}`,
    { ...asOwner, body: { permission: "read", encrypted_key: jwe } },
  ],
  ["DELETE", `/api/org/folders/${shared}/members/${auditor.userId}`, asOwner],
  ["DELETE", `/api/org/invites/${withdrawn.id}`, asOwner],
  ["POST", "/api/org/invites/accept", { ...tokenOf(invited), body: { token: invitation.token } }],
  ["DELETE", `/api/org/members/${watched.userId}/sessions/${otherSession.sessionId}`, asOwner],
  ["DELETE", `/api/org/members/${watched.userId}/sessions`, asOwner],
  ["POST", "/api/orgs", { ...tokenOf(founder), body: { name: "Founded" } }],
  ["POST", "/api/auth/register/finish", { body: registering }],
  ["POST", "/api/auth/login/finish", { body: await loginProof(service, loggingIn) }],
  ["POST", "/api/auth/password", { ...tokenOf(changing), body: change }],
  ["POST", "/api/auth/totp/verify", { ...tokenOf(securing), body: { otp: codeAt(secret, service.clock.now()) } }],
  ["DELETE", "/api/auth/totp", { ...tokenOf(secured), body: unsecure }],
  ["POST", "/api/auth/recovery/finish", { body: recovery.finish }],
  ["DELETE", `/api/auth/sessions/${second.sessionId}`, tokenOf(several)],
  ["DELETE", "/api/auth/sessions?others=true", tokenOf(several)],
  ["POST", "/api/org/history", { ...tokenOf(plain), body: adoptedOrg }],
  ["POST", `/api/org/folders/${adoptable}/history`, { ...tokenOf(signer), body: adoptedFolder }],
  [
    "POST",
    `/api/sm/v1/folders/${joinable}/history`,
    { token: bearer(joining), body: { entry: await machineJoinEntry(service, joining, joinable) } },
  ],
];

/** Why a route that is no GET is not among them. */
const others: Readonly<Record<string, string>> = {
  "POST /api/sm/v1/notation": "reads; it is among the ways in which a secret leaves",
  "POST /api/auth/register/start": "begins what is recorded when it is finished",
  "POST /api/auth/login/start": "begins what is recorded when it is finished, or fails",
  "POST /api/auth/password/start": "begins what is recorded when it is finished",
  "POST /api/auth/recovery/start": "begins what is recorded when it is finished, or fails",
  "POST /api/auth/totp": "begins what is recorded when it is verified",
  "POST /api/auth/refresh": "a session goes on: that is no action of the audit's",
  "POST /api/org/invites/history": "reads a history, which holds no secret",
  "PUT /api/org/folders/:id/rotation/:rotation_id": "stages what is recorded when the folder is rotated",
  "PUT /api/account/keyring": "what devices share of their trust: that is no action of the audit's",
  "PUT /api/account/travel-mode":
    "vaults keeps the mode together with its record: services/vaults/test/members/travel.test.ts",
  "PUT /api/org/members/:user_id/travel-mode": "as one's own",
};

/** A request that may be answered 500, which no description allows: so it is not compared with one. */
async function statusOf([method, path, { token, body }]: (typeof changes)[number], requestId = ""): Promise<number> {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(requestId === "" ? {} : { "x-request-id": requestId }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** One call for each way in which a secret leaves. */
const reads: typeof changes = [
  ["GET", `/api/sm/v1/secrets/${stored}`, asMachine],
  ["GET", `/api/sm/v1/secrets/${stored}/fields/${field}`, asMachine],
  ["POST", "/api/sm/v1/notation", { ...asMachine, body: { notation: `coffer://${folder}/${stored}/field/${field}` } }],
  ["GET", "/api/sm/v1/secrets", asMachine],
  ["GET", "/api/sm/v1/secrets?limit=1", asMachine],
  ["GET", "/api/sm/v1/secrets/search?title=data", asMachine],
  ["GET", inFolder, asOwner],
  ["GET", `${inFolder}/${stored}`, asOwner],
];

const tables = [
  ...["access_tokens", "applications", "client_folders", "clients", "folder_members", "folders", "invites"],
  ...["login_starts", "memberships", "orgs", "secrets", "sessions", "totp", "totp_recovery_codes", "users"],
  ...["device_credentials", "histories", "history_entries"],
];

/** What the tables hold, but for when a machine was last seen. */
async function stateOf(): Promise<unknown[]> {
  const digest = (table: string) =>
    `SELECT '${table}', md5(string_agg(row, ',' ORDER BY row)) FROM (
       SELECT (to_jsonb(t) - 'last_used_at' - 'last_ip')::text AS row FROM auth_sm.${table} t) rows`;
  return execute(service, tables.map(digest).join(" UNION ALL ") + " ORDER BY 1");
}

await execute(
  service,
  "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by the test'; END $$",
);

async function addTriggers(tables: readonly string[], trigger: string): Promise<void> {
  for (const table of tables) {
    await execute(service, `CREATE ${trigger.replace("*", `auth_sm.${table}`)} FOR EACH ROW EXECUTE FUNCTION refuse()`);
  }
}

async function dropTriggers(tables: readonly string[]): Promise<void> {
  for (const table of tables) await execute(service, `DROP TRIGGER refusal ON auth_sm.${table}`);
}

/** The records of requests that have been answered. */
async function recordsOf(requestIds: readonly string[]): Promise<AuditDraft[]> {
  // What was written before a later record has arrived with it.
  const last = await createFolder(service, owner);
  await service.observer.record("the last folder", ({ target }) => target.id === last);
  return service.observer.records.filter(({ request }) => requestIds.includes(request.id));
}

/**
 * Makes every change while `trigger` refuses rows of these tables, and then looks for what they
 * have left.
 */
async function tryChanges(t: Tap, name: string, refusing: readonly string[], trigger: string): Promise<void> {
  const before = await stateOf();
  await addTriggers(refusing, trigger);
  const ids = changes.map((_change, index) => `${name}-${index}`);
  for (const [index, change] of changes.entries()) {
    t.equal(await statusOf(change, ids[index]), 500, `${change[0]} ${change[1]}`);
  }
  await dropTriggers(refusing);
  t.same(await stateOf(), before);
  t.same(await recordsOf(ids), []);
}
const refusedRecords = "TRIGGER refusal BEFORE INSERT ON *";
type Tap = Pick<typeof t, "equal" | "same">;

await t.test("each route that changes something is here, or it is said why not", (t) => {
  const endpoints = routes.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  const isOf = (endpoint: string) => {
    const pattern = new RegExp(`^${endpoint.replace(/:\w+/g, "[^/]+")}$`);
    return ([method, path]: (typeof changes)[number]) => pattern.test(`${method} ${path.replace(/\?.*/, "")}`);
  };
  const missing = endpoints.filter((endpoint) => !(endpoint in others) && !changes.some(isOf(endpoint)));
  t.same(missing, []);
  t.same(
    Object.keys(others).filter((endpoint) => !endpoints.includes(endpoint) || changes.some(isOf(endpoint))),
    [],
    "and no other",
  );
  t.end();
});

await t.test("a change that does not commit leaves no record", (t) =>
  tryChanges(
    t,
    "commit",
    tables,
    "CONSTRAINT TRIGGER refusal AFTER INSERT OR UPDATE OR DELETE ON * DEFERRABLE INITIALLY DEFERRED",
  ),
);

await t.test("a change whose audit record cannot be stored is not made", (t) =>
  tryChanges(t, "record", ["outbox"], refusedRecords),
);

await t.test("a secret whose audit record cannot be stored is not returned", async (t) => {
  await addTriggers(["outbox"], refusedRecords);
  for (const read of reads) t.equal(await statusOf(read), 500, `${read[0]} ${read[1]}`);
  await dropTriggers(["outbox"]);
  const ids = reads.map((_read, index) => `read-${index}`);
  for (const [index, read] of reads.entries()) t.equal(await statusOf(read, ids[index]), 200, `${read[0]} ${read[1]}`);
  const records = await recordsOf(ids);
  t.same(
    ids.filter((id) => !records.some(({ request }) => request.id === id)),
    [],
    "each is on record",
  );
});

await t.test("a creation that made nothing is not on record as one", async (t) => {
  const change = ["POST", "/api/sm/v1/secrets", { ...asMachine, body: secretBody(folder, { uid: stored }) }] as const;
  t.equal(await statusOf([...change], "taken"), 400);
  const records = await recordsOf(["taken"]);
  t.match(records, [{ action: "secret.created", outcome: "failure", reason: "uid_taken" }]);
  t.equal(records.length, 1);
});

await t.test("all of them can be made, and each is on record once", async (t) => {
  const idOf = (index: number) => `made-${index}`;
  for (const [index, change] of changes.entries()) {
    t.match(await statusOf(change, idOf(index)), /^20[014]$/, `${change[0]} ${change[1]}`);
  }
  for (const [index, [method, path]] of changes.entries()) {
    const own = () => service.observer.records.filter(({ request }) => request.id === idOf(index));
    await until(`the record of ${method} ${path}`, () => own().length > 0);
  }
  const made = service.observer.records.filter(({ request }) => /^made-/.test(request.id));
  const told = made.map(({ request, action, target, org_id }) => [request.id, action, target.id, org_id].join(" "));
  t.same(told.toSorted(), [...new Set(told)].toSorted());
});

import { randomBytes } from "node:crypto";
import { newAccessToken, newKeyPair, readAccessToken } from "@coffer/crypto";
import { type Change, makeInvitation, type Resource, sign } from "@coffer/history";
import t from "tap";
import { type Answer, call } from "../support/call.ts";
import {
  bootstrapped,
  clientHolder,
  createSignedFolder,
  folderRes,
  holder,
  invitationTo,
  joinEntry,
  joinSigned,
  memberHolder,
  orgRes,
  registerKeyed,
  registerSigner,
  shareSigned,
  signedTokenBody,
  type Signer,
  signNext,
  someCheck,
  stateOf,
} from "../support/histories.ts";
import { createApplication, createFolder, createMachine } from "../support/machines.ts";
import { invite, join } from "../support/members.ts";
import { finishedRegistration, newEmail } from "../support/people.ts";
import { jwe, rotate, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

// Every change that a history signs: with its entry, without, by another signer, not the next one,
// saying something else, and on a resource without a history.

const service = await startAuthSm(t);
const owner = await registerSigner(service);
const admin = await joinSigned(service, owner, "admin");
const plain = await registerSigner(service, { history: false });

/** A change that needs an entry. */
interface Signed {
  /** Makes a new resource. */
  make(by: Signer): Promise<Resource>;
  /** What the entry must say. */
  right(res: Resource): Promise<Change> | Change;
  /** Entries that say something else. */
  wrong: Record<string, (res: Resource) => Promise<Change> | Change>;
  send(by: Signer, res: Resource, entry: string | undefined): Promise<Answer>;
  status: number;
}

const folder = async (by: Signer, signed = by !== plain): Promise<Resource> => {
  const id = signed ? await createSignedFolder(service, by) : await createFolder(service, by);
  if (signed) await shareSigned(service, by, id, admin, "manage");
  return folderRes(id);
};
const idOf = (res: Resource): string => res.slice(res.indexOf(":") + 1);
const put = (by: Signer, path: string, body: object) => call(service, "PUT", path, { token: by.token, body });

const reader = await joinSigned(service, owner);
const plainReader = await registerKeyed(service);
await invite(service, plain, { email: plainReader.email, role: "member" }).then(({ body }) =>
  call(service, "POST", "/api/org/invites/accept", { token: plainReader.token, body: { token: body.token } }),
);
const machines = {
  signed: await createMachine(service, owner, []),
  plain: await createMachine(service, plain, []),
};
const keyOf = async (clientId: string, applicationId: string, by: Signer): Promise<string> => {
  const path = `/api/org/applications/${applicationId}/clients`;
  const { body } = await call(service, "GET", path, { token: by.token });
  return (body.data.find(({ client_id }) => client_id === clientId) as unknown as { public_key: string }).public_key;
};
const machineKey = await keyOf(machines.signed.clientId, machines.signed.applicationId, owner);
const machine = { ...machines.signed, publicKey: machineKey, wrapKey: new Uint8Array(), tag: "" };
const wrongKey = (await newKeyPair()).publicKey;
let newName = "";
let check = "";

const changes: Record<string, Signed> = {
  "a new name": {
    make: folder,
    right: () => ({ name: (newName = randomBytes(6).toString("hex")) }),
    wrong: {
      "another name": () => ({ name: `not ${newName}` }),
      "and a holder": () => ({ name: newName, set: [holder(reader, "read")] }),
    },
    send: (by, res, entry) =>
      call(service, "PATCH", `/api/org/folders/${idOf(res)}`, { token: by.token, body: { name: newName, entry } }),
    status: 200,
  },
  "sharing with a person": {
    make: folder,
    right: () => ({ set: [holder(reader, "read")] }),
    wrong: {
      "another permission": () => ({ set: [holder(reader, "write")] }),
      "another key": () => ({ set: [{ ...holder(reader, "read"), key: wrongKey }] }),
      "another person": () => ({ set: [holder(admin, "read")] }),
      "one more": () => ({ set: [holder(reader, "read"), clientHolder(machine, "read")] }),
    },
    send: (by, res, entry) => {
      const who = by === plain ? plainReader : reader;
      const body = { permission: "read", encrypted_key: jwe, entry };
      return put(by, `/api/org/folders/${idOf(res)}/members/${who.userId}`, body);
    },
    status: 200,
  },
  "sharing with a machine": {
    make: folder,
    right: () => ({ set: [clientHolder(machine, "read")] }),
    wrong: {
      "another permission": () => ({ set: [clientHolder(machine, "write")] }),
      "another key": () => ({ set: [{ ...clientHolder(machine, "read"), key: wrongKey }] }),
      "a person": () => ({ set: [holder(reader, "read")] }),
    },
    send: (by, res, entry) => {
      const { applicationId, clientId } = by === plain ? machines.plain : machines.signed;
      const path = `/api/org/applications/${applicationId}/clients/${clientId}/folders/${idOf(res)}`;
      return put(by, path, { permission: "read", encrypted_key: jwe, entry });
    },
    status: 200,
  },
  "a rotation": {
    make: folder,
    right: () => ({ ver: 2, check: (check = someCheck()) }),
    wrong: {
      "a holder with a grant is dropped": () => ({ ver: 2, check, drop: [`user:${admin.userId}`] }),
      "and a new holder": () => ({ ver: 2, check, set: [holder(reader, "read")] }),
    },
    send: async (by, res, entry) =>
      rotate(service, by, idOf(res), { ...(await rotationOf(service, by, idOf(res))), entry }),
    status: 200,
  },
  "a role": {
    make: async (by) => {
      promoted = await (by === plain ? Promise.resolve(plainReader) : joinSigned(service, by));
      return orgRes(by.orgId);
    },
    right: () => ({ set: [memberHolder(promoted, "manage")] }),
    wrong: {
      "another permission": () => ({ set: [memberHolder(promoted, "read")] }),
      "another key": () => ({ set: [{ ...memberHolder(promoted, "manage"), key: wrongKey }] }),
      "another e-mail": () => ({ set: [{ ...memberHolder(promoted, "manage"), email: "x@example.com" }] }),
    },
    send: (by, _res, entry) =>
      call(service, "PATCH", `/api/org/members/${promoted.userId}`, {
        token: by.token,
        body: { role: "admin", entry },
      }),
    status: 200,
  },
};
let promoted: Signer = reader;

for (const [what, { make, right, wrong, send, status }] of Object.entries(changes)) {
  await t.test(`${what} is signed where there is a history`, async (t) => {
    const res = await make(owner);
    const change = await right(res);
    const entry = await signNext(service, owner, res, change);
    const without = await send(owner, res, undefined);
    t.match(
      without,
      { status: 400, body: { error: "invalid_request", details: [{ field: "entry" }] } },
      "without an entry",
    );
    const others = await signNext(service, admin, res, change);
    t.equal((await send(owner, res, others)).status, 403, "signed by another manager");
    const { publicKey, privateKey } = await newKeyPair();
    const forged = await sign(null, res, `user:${owner.userId}`, privateKey, {
      ...(res.startsWith("org:") ? {} : { org: owner.orgId, ver: 1, check: someCheck() }),
      name: "x",
      set: [
        res.startsWith("org:")
          ? memberHolder({ ...owner, publicKey }, "manage")
          : holder({ ...owner, publicKey }, "manage"),
      ],
    });
    t.equal((await send(owner, res, forged.text)).status, 409, "another first entry");
    for (const [how, change] of Object.entries(wrong))
      t.equal((await send(owner, res, await signNext(service, owner, res, await change(res)))).status, 400, how);
    const before = (await stateOf(service, owner, res))?.head;
    t.equal((await send(owner, res, entry)).status, status, "with its entry");
    t.equal((await stateOf(service, owner, res))?.head.seq, (before?.seq ?? 0) + 1);
    t.equal((await send(owner, res, entry)).status, 409, "an entry that was stored");
  });

  await t.test(`${what} needs no entry, and takes none, without a history`, async (t) => {
    const res = await make(plain);
    await right(res);
    const id = idOf(res);
    const first = res.startsWith("org:")
      ? { name: "x", set: [memberHolder(plain, "manage")] }
      : { name: "x", org: plain.orgId, set: [holder(plain, "manage")], ver: 1, check: someCheck() };
    const { text } = await sign(null, res, `user:${plain.userId}`, plain.privateKey, first);
    t.match(await send(plain, res, text), { status: 400, body: { details: [{ field: "entry" }] } }, id);
    t.equal((await send(plain, res, undefined)).status, status);
  });
}

await t.test("two rotations at once: one is stored", async (t) => {
  const res = await folder(owner);
  const body = await rotationOf(service, owner, idOf(res));
  const change = { ver: 2, check: someCheck() };
  const entries = [await signNext(service, owner, res, change), await signNext(service, admin, res, change)];
  const [one, other] = await Promise.all([
    rotate(service, owner, idOf(res), { ...body, entry: entries[0] }),
    // Each seals under the own user key for itself alone; both bodies name the same holders by
    // their public keys.
    rotate(service, admin, idOf(res), { ...body, entry: entries[1] }),
  ]);
  t.strictSame([one.status, other.status].sort(), [200, 409]);
  t.match(await stateOf(service, owner, res), { ver: 2, head: { seq: 2 } });
});

await t.test("a rotation seals only for holders of the history, and drops holders without a grant", async (t) => {
  const res = await folder(owner);
  const id = idOf(res);
  const { clientId, applicationId } = machines.signed;
  await shareSigned(service, owner, id, reader, "read");
  // A machine that the server lists and no manager has signed: it spent a token that the service made.
  const application = await createApplication(service, owner);
  const made = await call(service, "POST", `/api/org/applications/${application}/tokens`, {
    token: owner.token,
    body: { name: "unsigned", folders: [{ folder_id: id, permission: "read" }] },
  });
  const unsigned = await bootstrapped(service, application, {
    token: made.body.token,
    tag: "",
    wrapKey: new Uint8Array(),
  });
  t.equal(made.body.tag, null, "a token of the service is no tag");
  const path = `/api/org/applications/${applicationId}/clients/${clientId}/folders/${id}`;
  const grant = await signNext(service, owner, res, { set: [clientHolder(machine, "read")] });
  t.equal((await put(owner, path, { permission: "read", encrypted_key: jwe, entry: grant })).status, 200);
  t.equal((await call(service, "DELETE", path, { token: owner.token })).status, 204);
  const removed = `/api/org/folders/${id}/members/${reader.userId}`;
  t.equal((await call(service, "DELETE", removed, { token: owner.token })).status, 204);

  const drop = [`user:${reader.userId}`, `client:${clientId}`];
  const entry = await signNext(service, owner, res, { ver: 2, check: someCheck(), drop });
  const body = await rotationOf(service, owner, id);
  t.equal((await rotate(service, owner, id, { ...body, entry })).status, 400, "a key for the unsigned machine");
  const { users, clients } = body.encrypted_keys;
  const keys = { users, clients: clients.map(({ client_id }) => ({ client_id, encrypted_key: null })) };
  t.strictSame(
    clients.map(({ client_id }) => client_id),
    [unsigned.clientId],
  );
  t.equal((await rotate(service, owner, id, { ...body, encrypted_keys: keys, entry })).status, 200);
  const state = await stateOf(service, owner, res);
  t.strictSame(
    new Set(state?.holders.map(({ who }) => who)),
    new Set([owner, admin].map(({ userId }) => `user:${userId}`)),
  );
  const holders = await call(service, "GET", `/api/org/folders/${id}/members`, { token: owner.token });
  t.strictSame(
    holders.body.data.map(({ has_key }) => has_key),
    [true, true, false],
  );

  // Its confirmation is a `set`, on record; then any manager seals without one.
  const confirming = `/api/org/applications/${application}/clients/${unsigned.clientId}/folders/${id}`;
  const confirm = await signNext(service, owner, res, { set: [clientHolder(unsigned, "read")] });
  t.equal((await put(owner, confirming, { permission: "read", encrypted_key: jwe, entry: confirm })).status, 200);
  const record = await service.observer.record(
    "trusted",
    ({ action, target }) => action === "history.trusted" && target.id === unsigned.clientId,
  );
  t.match(record, { target: { type: "client", parent_id: id }, actor: { id: owner.userId } });
  t.equal((await put(admin, confirming, { permission: "read", encrypted_key: jwe })).status, 200, "seals again");
  const again = await signNext(service, admin, res, { set: [clientHolder(unsigned, "read")] });
  const repeated = await put(admin, confirming, { permission: "read", encrypted_key: jwe, entry: again });
  t.equal(repeated.status, 200, "an entry may repeat what the history has");
});

await t.test("without a history a rotation needs every key", async (t) => {
  const id = await createFolder(service, plain);
  const body = await rotationOf(service, plain, id);
  const users = body.encrypted_keys.users.map(({ user_id }) => ({ user_id, encrypted_key: null }));
  t.equal((await rotate(service, plain, id, { ...body, encrypted_keys: { users, clients: [] } })).status, 400);
});

await t.test("a member outside of the organization's history signs nothing that would count", async (t) => {
  const res = await folder(owner);
  const outsider = await registerKeyed(service);
  await invite(service, plain, { email: outsider.email, role: "member" });
  await join(service, owner.orgId, outsider, "member");
  t.equal((await shareSigned(service, owner, idOf(res), outsider, "manage")).status, 200);
  const entry = await signNext(service, { ...outsider, orgId: owner.orgId }, res, { name: "renamed" });
  const asked = () =>
    call(service, "PATCH", `/api/org/folders/${idOf(res)}`, {
      token: outsider.token,
      body: { name: "renamed", entry },
    });
  t.equal((await asked()).status, 400);
  const confirmed = await signNext(service, owner, orgRes(owner.orgId), { set: [memberHolder(outsider, "read")] });
  await call(service, "POST", "/api/org/history", { token: owner.token, body: { entry: confirmed } });
  t.equal((await asked()).status, 200);
});

await t.test("an invitation is signed, and accepted with a signed join", async (t) => {
  const person = await registerKeyed(service);
  const { email } = person;
  const invitation = await invitationTo(service, owner, { email });
  const { body } = invitation;
  const asked = (more: object) => invite(service, owner, { ...body, ...more });
  t.equal((await asked({ entry: undefined })).status, 400, "without an entry");
  t.equal((await asked({ entry: undefined, token_hash: undefined })).status, 400, "with the service's token");
  t.equal((await asked({ token_hash: undefined })).status, 400, "with the service's token and an entry");
  t.equal((await asked({ email: "another@example.com" })).status, 400, "another e-mail");
  t.equal((await asked({ role: "admin" })).status, 400, "another role");
  t.equal((await asked({ token_hash: "ab".repeat(32) })).status, 400, "another token");
  const others = await invitationTo(service, admin, { email });
  t.equal((await invite(service, owner, others.body)).status, 403, "signed by another");
  const made = await asked({});
  t.match(made, { status: 201, body: { tag: body.token_hash } });
  t.notOk("token" in made.body, "the service has no token");
  t.equal((await asked({})).status, 409, "not the next entry");
  const list = await call(service, "GET", "/api/org/invites", { token: owner.token });
  t.ok(list.body.data.some(({ tag }) => tag === body.token_hash));

  const tag = body.token_hash;
  const accepting = (entry?: string) =>
    call(service, "POST", "/api/org/invites/accept", { token: person.token, body: { token: invitation.token, entry } });
  t.equal((await accepting()).status, 400, "without an entry");
  const raised = await joinEntry(service, person, owner.orgId, { ...invitation, tag });
  const own = await registerKeyed(service);
  const other = [memberHolder({ ...own, email }, "read")];
  const reading = { token: own.token, body: { token: invitation.token } };
  t.equal((await call(service, "POST", "/api/org/invites/history", reading)).status, 403, "another's invitation");
  const asOther = await joinEntry(service, person, owner.orgId, { ...invitation, tag }, () => ({ set: other }));
  t.equal((await accepting(asOther)).status, 400, "as another person");
  t.equal(
    (await accepting(await signNext(service, owner, orgRes(owner.orgId), { set: [memberHolder(person, "read")] })))
      .status,
    403,
  );
  t.match(await accepting(raised), { status: 200, body: { id: owner.orgId } });
  const record = await service.observer.record(
    "joined",
    ({ action, actor }) => action === "history.joined" && actor.id === person.userId,
  );
  t.match(record, { org_id: owner.orgId, target: { type: "user", id: person.userId } });
  t.match(
    (await stateOf(service, person, orgRes(owner.orgId)))?.holders.find(({ email: at }) => at === email),
    { perm: "read" },
  );
});

await t.test("an invitation permits a registration, but no join where there is a history", async (t) => {
  const email = newEmail();
  const invitation = await invitationTo(service, owner, { email });
  t.equal((await invite(service, owner, invitation.body)).status, 201);
  const { publicKey, privateKey } = await newKeyPair();
  const registered = await finishedRegistration(service, {
    email,
    publicKey,
    more: { invite_token: invitation.token },
  });
  const account = await call(service, "GET", "/api/account", { token: registered.token });
  t.strictSame(account.body.organizations, [] as never);
  const person = { ...registered, publicKey, privateKey, orgId: "" };
  const entry = await joinEntry(service, person, owner.orgId, { ...invitation, tag: invitation.body.token_hash });
  const accepted = await call(service, "POST", "/api/org/invites/accept", {
    token: person.token,
    body: { token: invitation.token, entry },
  });
  t.equal(accepted.status, 200);
});

await t.test("a token invites its machine in each folder", async (t) => {
  const [one, two] = [await createSignedFolder(service, owner), await createSignedFolder(service, owner)];
  const application = await createApplication(service, owner);
  const folders = [one, two].map((folder_id) => ({ folder_id, permission: "read" as const }));
  const good = (await signedTokenBody(service, owner, folders)).body;
  const asked = (body: object, by = owner) =>
    call(service, "POST", `/api/org/applications/${application}/tokens`, { token: by.token, body });
  const [first, second] = good.folders;
  t.equal(
    (await asked({ ...good, folders: [first, { ...second, entry: undefined }] })).status,
    400,
    "one without an entry",
  );
  t.equal((await asked({ ...good, token_hash: undefined })).status, 400, "a token of the service has none");
  t.equal((await asked({ ...good, token_hash: "ab".repeat(32) })).status, 400, "another token");
  t.equal((await asked({ ...good, folders: [{ ...first, permission: "write" }] })).status, 400, "another permission");
  t.equal(
    (await asked({ ...good, folders: [{ ...first, entry: second?.entry }] })).status,
    400,
    "another folder's entry",
  );
  const { tokenHash, wrapKey } = await readAccessToken(newAccessToken());
  const twice = await signNext(service, owner, folderRes(one), async (before) => {
    const request = { wrapKey, kind: "client" as const, perm: "read" as const };
    const make = (tag: string) => makeInvitation(before, folderRes(one), { tag, ...request });
    return { invite: [await make(tokenHash), await make("cd".repeat(32))] };
  });
  t.equal(
    (await asked({ ...good, token_hash: tokenHash, folders: [{ ...first, entry: twice }] })).status,
    400,
    "two invitations",
  );
  const made = await asked(good);
  t.match(made, { status: 201, body: { tag: good.token_hash } });
  t.equal((await stateOf(service, owner, folderRes(one)))?.invitations[0]?.tag, good.token_hash);
  t.equal((await asked(good)).status, 409, "the entries are not the next ones");
  const unsigned = await createFolder(service, owner);
  const more = { folder_id: unsigned, permission: "read", entry: first?.entry };
  t.equal((await asked({ ...good, folders: [more] })).status, 400, "a folder without a history");
  const mixed = await signedTokenBody(service, owner, [{ folder_id: one, permission: "read" }]);
  const both = [...mixed.body.folders, { folder_id: unsigned, permission: "read" }];
  t.equal((await asked({ ...mixed.body, folders: both })).status, 201);
});

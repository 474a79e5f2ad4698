import { box, contexts, decodeBase64, newId, newKey, seal, unboxBound } from "@coffer/crypto";
import { sign } from "@coffer/history";
import t from "tap";
import { memoryTrust, personClient, type TrustStorage } from "../src/index.ts";
import { hiddenPin, withHiddenPins } from "../src/trust/hidden-pins.ts";
import type { VaultView } from "../src/vaults/views.ts";
import { type Company, startCompany } from "./history-people.ts";
import type { HistoryServer } from "./history-server.ts";
import { Refusal } from "./refusal.ts";

const login = { type: "login", fields: { name: "Example", password: "s3cret" } };
const yes = (): Promise<boolean> => Promise.resolve(true);

/** A shared vault of alice with a record. */
async function withVault(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { id } = await company.alice.client().vaults.create("Team", { type: "shared" });
  const record = await company.alice.client().records.create(id, login);
  const res = `vault:${id}` as const;
  return { ...company, id, record, res };
}

/** A colleague to whom alice gave the vault, and who has accepted it. */
async function newReader(
  company: Company,
  id: string,
  email: string,
  permission: "read" | "write" | "manage" = "write",
) {
  const member = await company.join(email);
  await company.alice.client().vaults.share(id, { userId: member.session.user.id, permission });
  await member.client().vaults.accept(id);
  return member;
}

/** Lets the service show something else of the vaults. */
const showVaults =
  (change: (one: VaultView) => object): HistoryServer["lie"] =>
  ({ path, method }, { body }) => {
    if (method !== "GET" || !/^\/api\/vaults(\/[0-9a-f-]{36})?(\?|$)/.test(path)) return body;
    const list = body as { data?: VaultView[] };
    return list.data === undefined ? change(body as VaultView) : { data: list.data.map(change) };
  };

const seals = ({ received }: HistoryServer): string[] =>
  received
    .filter(({ method, path }) => method !== "GET" && !path.endsWith("/pin"))
    .map(({ method, path }) => `${method} ${path}`);

await t.test("a colleague reads a shared vault, and no words are compared", async (t) => {
  const { alice, join, id, record, server, organizationId } = await withVault(t);
  const bob = await join("bob@example.com");
  await alice.client().vaults.share(id, { userId: bob.session.user.id, permission: "read" });
  await t.rejects(bob.client().records.list(id), { code: "not_accepted" }, "nobody has said that it is expected");
  t.match(await bob.client().vaults.list(), [{ name: "Team", permission: "read", problem: "not_accepted" }]);
  const asked: unknown[] = [];
  const accept = (offer: unknown): Promise<boolean> => Promise.resolve(asked.push(offer) > 0);
  t.same(await bob.client({ accept }).records.list(id), [record]);
  t.same(asked, [
    {
      kind: "vault",
      id,
      name: "Team",
      from: "alice@example.com",
      organization: { id: organizationId, name: "Example" },
      same_name: [],
    },
  ]);
  t.same(await bob.client({ trust: memoryTrust() }).records.list(id), [record], "another device knows it too");
  t.notOk(server.received.some(({ path }) => path.includes("/public_key")));
});

await t.test("what a keyring holds says nothing of vaults", async (t) => {
  const { alice, server, id } = await withVault(t);
  await alice.client().folders.create("production");
  const { version, sealed } = server.keyrings.get(alice.session.user.id) ?? { version: 0, sealed: "" };
  const userKey = decodeBase64(alice.session.user_key);
  const opened = await unboxBound(userKey, sealed, contexts.keyring(alice.session.user.id, version));
  const text = Buffer.from(opened).toString();
  t.match(text, "folder:");
  t.notMatch(text, id);
});

await t.test("a service that hands out a key of its own is not believed", async (t) => {
  const { alice, server, id } = await withVault(t);
  const foreign = await seal(alice.session.public_key, newKey(), contexts.vaultKey(id));
  server.lie = showVaults((one) => ({ ...one, encrypted_key: foreign, encrypted_key_alg: "jwe" }));
  server.received.length = 0;
  const me = alice.client();
  t.match(await me.vaults.list(), [{ name: "Team", problem: "key_mismatch" }], "a list is no reason to fail");
  const mismatch = { code: "key_mismatch" };
  await t.rejects(me.records.create(id, login), mismatch);
  await t.rejects(me.records.update(id, newId(), login), mismatch);
  await t.rejects(me.records.list(id), mismatch);
  await t.rejects(me.records.import(id, [login]), mismatch);
  await t.rejects(me.records.stableIds(id, ["a"]), mismatch);
  await t.rejects(me.vaults.rotate(id), mismatch);
  await t.rejects(me.vaults.share(id, { userId: alice.session.user.id, permission: "manage" }), mismatch);
  t.same(seals(server), []);
});

await t.test("a personal vault has the key that its owner sealed as that, and no other", async (t) => {
  const { alice, server } = await startCompany(t);
  const me = alice.client();
  const { id } = await me.vaults.create("Mine");
  const own = server.vaults.get(id)?.members[0]?.encrypted_key ?? "";
  const key = await unboxBound(decodeBase64(alice.session.user_key), own, contexts.ownVaultKey(id));
  await me.records.create(id, login);
  const userKey = decodeBase64(alice.session.user_key);
  for (const sealed of [
    await seal(alice.session.public_key, newKey(), contexts.vaultKey(id)),
    await seal(alice.session.public_key, key, contexts.ownVaultKey(id)),
    await box(userKey, key, contexts.vaultKey(id)),
  ]) {
    server.lie = showVaults((one) => ({ ...one, encrypted_key: sealed }));
    server.received.length = 0;
    await t.rejects(alice.client().records.create(id, login), { code: "not_decrypted", message: /not sealed by you/ });
    t.same(seals(server), []);
  }
  await t.rejects(alice.client().vaults.share(id, { userId: newId(), permission: "read" }), {
    code: "invalid_request",
  });
  server.lie = showVaults((one) => one);
  await t.rejects(alice.client().vaults.share(id, { userId: newId(), permission: "read" }), {
    code: "invalid_request",
    message: /personal/,
  });
  await t.rejects(alice.client().vaults.rotate(id), { code: "invalid_request" });
  await t.rejects(alice.client().vaults.adopt(id, yes), { code: "invalid_request" });
});

await t.test("a shared vault shown as personal is not used, nor a personal one shown as shared", async (t) => {
  const { alice, server, id } = await withVault(t);
  const { id: own } = await alice.client().vaults.create("Mine");
  server.lie = showVaults((one) => ({ ...one, type: one.type === "shared" ? "personal" : "shared" }));
  server.received.length = 0;
  await t.rejects(alice.client().records.create(id, login), { code: "not_decrypted" });
  await t.rejects(alice.client().records.create(own, login), { code: "no_history" });
  t.same(seals(server), []);
});

await t.test("an older key that the service shows again is not used, also not for reading", async (t) => {
  const { alice, server, id, record } = await withVault(t);
  const before = structuredClone(server.vaults.get(id)?.members[0]);
  await alice.client().vaults.rotate(id);
  const { encrypted_key = null } = before ?? {};
  server.lie = showVaults((one) => ({ ...one, encrypted_key, key_version: 1 }));
  await t.rejects(alice.client().records.get(id, record.id), { code: "key_rolled_back" });
  await t.rejects(alice.client().records.create(id, login), { code: "key_rolled_back" });
  server.lie = showVaults((one) => ({ ...one, encrypted_key }));
  await t.rejects(alice.client().records.get(id, record.id), { code: "key_mismatch" });
});

await t.test(
  "a history that is shorter than before, or another one, is refused until it is trusted again",
  async (t) => {
    const { alice, server, id, res, record } = await withVault(t);
    const first = server.histories.get(res);
    if (first === undefined) throw new Error("no history");
    await alice.client().vaults.update(id, { name: "Renamed" });
    server.histories.set(res, first);
    await t.rejects(alice.client().records.list(id), { code: "history_rolled_back" });
    const another = await sign(first.state, res, `user:${alice.session.user.id}`, alice.privateKey, { name: "Forked" });
    server.histories.set(res, { entries: [...first.entries, another.text], state: another.state });
    await t.rejects(alice.client().vaults.update(id, { name: "Again" }), { code: "history_forked" });
    await t.rejects(
      alice.client().vaults.trust(id, () => Promise.resolve(false)),
      { code: "access_denied" },
    );
    const asked: string[] = [];
    await alice.client().vaults.trust(id, ({ name }) => Promise.resolve(asked.push(name) > 0));
    t.same(asked, ["alice@example.com"]);
    t.same(await alice.client().records.list(id), [record]);
    t.equal((await alice.client().vaults.get(id)).name, "Forked");
    t.same(await alice.client({ trust: memoryTrust() }).records.list(id), [record], "other devices know it");
  },
);

await t.test("to take a vault away is a rotation: the history drops the person, and the others go on", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, record, res } = company;
  const [bob, carol] = [
    await newReader(company, id, "bob@example.com"),
    await newReader(company, id, "carol@example.com"),
  ];
  const sealed = server.records.get(record.id)?.encrypted_data;
  const rotated = await alice.client().vaults.unshare(id, carol.session.user.id);
  t.match(rotated, { key_version: 2, unopened: [], problem: null });
  t.same(
    rotated?.sealed_to.map(({ name }) => name),
    ["alice@example.com", "bob@example.com"],
  );
  t.same(
    rotated?.dropped.map(({ name }) => name),
    ["carol@example.com"],
  );
  t.equal(server.histories.get(res)?.state.ver, 2);
  t.not(server.records.get(record.id)?.encrypted_data, sealed);
  t.match(await bob.client().records.list(id), [{ id: record.id, ...login }]);
  await t.rejects(carol.client().records.list(id), { code: "not_found" });
  t.equal(await bob.client().vaults.unshare(id, bob.session.user.id), null, "who leaves rotates nothing");
  t.match(await alice.client().vaults.members(id), [{ ended: false }, { email: "bob@example.com", ended: true }]);
  t.match(await alice.client().vaults.rotate(id), { dropped: [{ name: "bob@example.com" }], key_version: 3 });
});

await t.test("a removal whose rotation failed goes on when it is done again", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const bob = await newReader(company, id, "bob@example.com");
  const honest = server.answer.bind(server);
  server.answer = (caller, request, context) =>
    request.path.endsWith("/rotate")
      ? Promise.resolve({ status: 503, body: { error: "unavailable", message: "away" } })
      : honest(caller, request, context);
  await t.rejects(alice.client().vaults.unshare(id, bob.session.user.id), { code: "unavailable" });
  t.equal(server.vaults.get(id)?.members.length, 1, "the access has ended");
  server.answer = honest;
  t.match(await alice.client().vaults.unshare(id, bob.session.user.id), { dropped: [{ name: "bob@example.com" }] });
  await t.rejects(alice.client().vaults.unshare(id, bob.session.user.id), { code: "not_found" });
});

await t.test("a removal whose vault is shown without its history is no removal from a vault without one", async (t) => {
  const lies: Record<string, (id: string) => HistoryServer["lie"]> = {
    "as a personal vault": () => showVaults((view) => ({ ...view, type: "personal" })),
    "without entries":
      (id) =>
      ({ method, path }, { body }) =>
        method === "GET" && path.includes(`/vaults/${id}/history`) ? { data: [], history_seq: null } : body,
  };
  for (const [what, lie] of Object.entries(lies)) {
    const company = await withVault(t);
    const { alice, server, id, res } = company;
    const eve = await newReader(company, id, "eve@example.com");
    server.lie = lie(id);
    const codes = /^(not_decrypted|history_rolled_back)$/;
    await t.rejects(alice.client().vaults.unshare(id, eve.session.user.id), { code: codes }, what);
    server.lie = (_, { body }) => body;
    t.equal(server.vaults.get(id)?.members.length, 1, "the access has ended");
    t.match(await alice.client().vaults.rotate(id), { dropped: [{ id: eve.session.user.id }] });
    t.equal(server.histories.get(res)?.state.ver, 2);
  }
});

await t.test("a record without ciphertext stops a rotation before anything is sent", async (t) => {
  const { alice, server, id } = await withVault(t);
  await alice.client().records.create(id, { type: "login", fields: { name: "n" } });
  server.received.length = 0;
  for (const data of [undefined, null, 7]) {
    server.lie = ({ path }, { body }) =>
      path.includes("/records")
        ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, encrypted_data: data })) }
        : body;
    await t.rejects(alice.client().vaults.rotate(id), { code: "bad_answer" });
  }
  t.same(
    server.received.filter(({ path }) => path.endsWith("/rotate")),
    [],
  );
});

await t.test("a rotation after a false list of records stores no ciphertext under another record", async (t) => {
  const { alice, server, id } = await withVault(t);
  for (const name of ["a", "b"]) await alice.client().records.create(id, { type: "login", fields: { name } });
  const before = await alice.client().records.list(id);
  let lies = true;
  server.lie = ({ method, path }, { body }) => {
    if (!lies || method !== "GET" || !/\/records\?/.test(path)) return body;
    lies = false;
    const { data } = body as { data: { encrypted_data: string }[] };
    const texts = data.map((one) => one.encrypted_data).reverse();
    return { ...(body as object), data: data.map((one, index) => ({ ...one, encrypted_data: texts[index] })) };
  };
  t.match(await alice.client().vaults.rotate(id), { unopened: [] });
  t.notOk(lies);
  const fieldsOf = (records: typeof before) => records.map((one) => [one.id, one.fields]).sort();
  t.same(fieldsOf(await alice.client().records.list(id)), fieldsOf(before));
});

await t.test("pages without end are refused", async (t) => {
  const { alice, server, id } = await withVault(t);
  await alice.client().records.create(id, { type: "login", fields: { name: "n" } });
  for (const [cursors, shown] of [
    [["x", "y"], true],
    [["x"], true],
    [Array.from({ length: 100 }, (_, index) => String(index)), false],
  ] as const) {
    let count = 0;
    server.lie = ({ path }, { body }) => {
      if (!/\/records\?/.test(path)) return body;
      const { data } = body as { data: object[] };
      return { data: shown ? data : [], next_cursor: cursors[(count += 1) % cursors.length] };
    };
    await t.rejects(alice.client().records.list(id), { code: "bad_answer", message: /without end/ });
    t.ok(count < 5, `${count} pages`);
  }
});

await t.test("a rotation seals all records again, staged when they are more than a request takes", async (t) => {
  const { alice, server, id } = await withVault(t);
  const many = Array.from({ length: 1200 }, (_, index) => ({ type: "login", fields: { name: `n${index}` } }));
  await alice.client().records.import(id, many);
  const broken = newId();
  const at = "2026-11-20T10:00:01.000000Z";
  server.records.set(broken, {
    ...{ id: broken, vault_id: id, type: "login", encrypted_data: Buffer.alloc(60, 1).toString("base64") },
    ...{ created_at: at, updated_at: at },
  });
  server.received.length = 0;
  const rotated = await alice.client().vaults.rotate(id);
  t.same(rotated.unopened, [broken]);
  t.same(
    server.received
      .filter(({ path }) => path.includes("/rotat"))
      .map(({ method, path }) => `${method} ${path.split("/")[4] ?? ""}`),
    ["PUT rotation", "PUT rotation", "POST rotate"],
  );
  t.equal((await alice.client({ onUnreadable: () => undefined }).records.list(id)).length, 1201);
});

await t.test(
  "a record that is written while the vault is rotated is not lost: the rotation begins again",
  async (t) => {
    const { alice, server, id } = await withVault(t);
    const other = alice.client();
    await other.vaults.list();
    let between = 1;
    server.lie = ({ method, path }, { body }) => {
      if (method === "GET" && path.includes("/records") && between > 0) {
        between -= 1;
        const held = [...server.records.values()][0];
        if (held !== undefined) server.records.set(held.id, { ...held, updated_at: "2026-11-20T10:00:02.000000Z" });
      }
      return body;
    };
    t.match(await alice.client().vaults.rotate(id), { key_version: 2 });
    t.equal(between, 0);
    t.match(await other.records.list(id), [login]);
  },
);

await t.test("who wrote with the key from before a rotation writes again with the new one", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com");
  const [late, reader] = [bob.client(), bob.client()];
  for (const one of [late, reader]) await one.records.list(id);
  /** The key changes right before the next request of this kind is answered. */
  const rotateBefore = (method: string, end: RegExp): void => {
    const honest = server.answer.bind(server);
    let rotated = false;
    server.answer = async (caller, request, context) => {
      if (!rotated && request.method === method && end.test(request.path)) {
        rotated = true;
        await alice.client().vaults.rotate(id);
      }
      return honest(caller, request, context);
    };
  };
  rotateBefore("POST", /records$/);
  const made = await late.records.create(id, { ...login, fields: { name: "late" } });
  rotateBefore("PUT", /records/);
  t.match(await late.records.update(id, record.id, { fields: { name: "updated" } }), { fields: { name: "updated" } });
  rotateBefore("POST", /import$/);
  t.match(await late.records.import(id, [login, login]), { imported: 2, failed: 0 });
  t.equal(server.histories.get(`vault:${id}`)?.state.ver, 4);
  const versions = server.received
    .filter(({ method, path }) => method !== "GET" && /\/(records|import)/.test(path))
    .map(({ body }) => (JSON.parse(body) as { key_version: unknown }).key_version);
  t.same(versions, [1, 1, 2, 2, 3, 3, 4], "each write says which key it is under");
  t.same((await reader.records.get(id, made.id)).fields, { name: "late" }, "and a reader with the old key reads again");
  t.equal((await late.records.list(id)).length, 4);
});

await t.test("an import whose answer was lost before a rotation is recognised", async (t) => {
  const { alice, server, id } = await withVault(t);
  let lost = false;
  server.lie = ({ method, path }, { body }) => {
    if (lost || method !== "POST" || !path.endsWith("/import")) return body;
    lost = true;
    return { error: "unavailable" };
  };
  const honest = server.answer.bind(server);
  let imports = 0;
  server.answer = async (caller, request, context) => {
    if (request.path.endsWith("/import") && (imports += 1) === 2) await alice.client().vaults.rotate(id);
    const answer = await honest(caller, request, context);
    return lost || !request.path.endsWith("/import") ? answer : { ...answer, status: 503 };
  };
  const trust = memoryTrust();
  const me = alice.client({ trust });
  t.match(await me.records.import(id, [login, login]), { imported: 2, failed: 0 });
  t.equal(imports, 3);
  t.equal((await me.records.list(id)).length, 3);
});

await t.test("a key is sealed only to people that the histories name", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const stranger = newId();
  await t.rejects(alice.client().vaults.share(id, { userId: stranger, permission: "read" }), {
    code: "holder_unconfirmed",
  });
  server.vaults.get(id)?.members.push({ user_id: stranger, permission: "read", encrypted_key: null });
  t.match(await alice.client().vaults.members(id), [{ problem: null }, { problem: "holder_unconfirmed" }]);
  const rotated = await alice.client().vaults.rotate(id);
  t.same(
    rotated.left_out.map((holder) => holder.id),
    [stranger],
  );
  t.equal(server.vaults.get(id)?.members.find(({ user_id }) => user_id === stranger)?.encrypted_key, null);
});

await t.test("a member without a key reads who can seal it, and has it once a manager opens the vault", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com", "read");
  const held = server.vaults.get(id)?.members.find(({ user_id }) => user_id === bob.session.user.id);
  Object.assign(held ?? {}, { encrypted_key: null });
  await t.rejects(bob.client().records.list(id), { code: "key_pending", message: /alice@example\.com/ });
  t.match(await alice.client().vaults.members(id), [{ problem: null }, { problem: null, has_key: true }]);
  t.same(await bob.client().records.list(id), [record]);
});

await t.test("a vault without a history is used once a manager has adopted it", async (t) => {
  const { alice, join, server, id, res, record } = await withVault(t);
  const bob = await join("bob@example.com");
  server.vaults.get(id)?.members.push({ user_id: bob.session.user.id, permission: "read", encrypted_key: null });
  const stranger = newId();
  server.vaults.get(id)?.members.push({ user_id: stranger, permission: "read", encrypted_key: null });
  server.histories.delete(res);
  server.received.length = 0;
  await t.rejects(alice.client().vaults.adopt(id, yes), { code: "conflict" }, "to her the history is only hidden");
  await t.rejects(
    alice.client({ trust: memoryTrust() }).vaults.adopt(id, yes),
    { code: "conflict" },
    "nor on a new device",
  );
  t.same(seals(server), []);
  server.vaults.get(id)?.pins.clear();
  // As of another program that made it: this device has seen nothing of it.
  const trust = memoryTrust();
  const me = alice.client({ trust });
  await t.rejects(me.records.list(id), { code: "no_history" });
  await t.rejects(me.vaults.rotate(id), { code: "no_history" });
  t.match(await me.vaults.adopt(id, yes), { name: "Team", left_out: [{ id: stranger }] });
  t.same(await me.records.list(id), [record]);
  await bob.client().vaults.accept(id);
  t.same(await bob.client().records.list(id), [record]);
});

await t.test("names and permissions are those of the history", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const bob = await newReader(company, id, "bob@example.com", "read");
  server.lie = showVaults((one) => ({ ...one, name: "Trap", permission: "manage" }));
  t.match(await bob.client().vaults.list(), [{ name: "Team", permission: "read" }]);
  server.lie = (_request, { body }) => body;
  await alice.client().vaults.update(id, { name: "Renamed", safeForTravel: true });
  t.match(await bob.client().vaults.find("renamed"), { id, safe_for_travel: true });
  await alice.client().vaults.update(id, { name: "Renamed", safeForTravel: false });
  const { id: other } = await alice.client().vaults.create("Renamed", { type: "shared" });
  t.equal((await bob.client().vaults.find("Renamed")).id, id, "what was not given is not seen");
  await alice.client().vaults.share(other, { userId: bob.session.user.id, permission: "read" });
  t.equal((await bob.client().vaults.find("Renamed")).id, id, "the other one was not accepted");
  await bob.client().vaults.accept(other);
  await t.rejects(bob.client().vaults.find("Renamed"), { code: "name_ambiguous" });
  await t.rejects(bob.client().vaults.find("Nothing"), { code: "not_found" });
});

/** The trust of a device that has seen nothing. */
const newDevice = (): TrustStorage => memoryTrust();

await t.test("a device without pins trusts nothing when a vault's pin is not there, or does not open", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com");
  server.lie = showVaults((one) => ({ ...one, sealed_pin: null }));
  await t.rejects(alice.client({ trust: newDevice() }).records.list(id), { code: "keyring_missing" });
  const sealed = await box(newKey(), new Uint8Array(3), contexts.vaultPin(id, 1));
  server.lie = showVaults((one) => ({ ...one, sealed_pin: { version: 1, sealed } }));
  for (const one of [alice, bob])
    await t.rejects(one.client({ trust: newDevice() }).records.list(id), { code: "keyring_missing" });
  server.lie = (_request, { body }) => body;
  server.vaults.get(id)?.pins.clear();
  const trust = newDevice();
  await alice.client({ trust }).vaults.trust(id, yes);
  t.same(await alice.client({ trust }).records.list(id), [record]);
  t.same(await alice.client({ trust: newDevice() }).records.list(id), [record]);
});

await t.test(
  "an older pin than a device has seen is refused, and so is a history that lacks another device's",
  async (t) => {
    const { alice, server, id, res, record } = await withVault(t);
    const first = structuredClone(server.vaults.get(id)?.pins.get(alice.session.user.id));
    const history = server.histories.get(res);
    if (first === undefined || history === undefined) throw new Error("nothing is pinned");
    const other = newDevice();
    t.same(await alice.client({ trust: other }).records.list(id), [record]);
    await alice.client().vaults.update(id, { name: "Renamed" });
    server.lie = showVaults((one) => ({ ...one, sealed_pin: first }));
    await t.rejects(alice.client().records.list(id), { code: "keyring_rolled_back" });
    server.lie = showVaults((one) => ({ ...one, sealed_pin: null }));
    await t.rejects(alice.client().records.list(id), { code: "keyring_rolled_back" });
    server.lie = (_request, { body }) => body;
    // The other device has not seen the rename, but what the first one pinned.
    server.histories.set(res, history);
    await t.rejects(alice.client({ trust: other }).records.list(id), { code: "history_rolled_back" });
    t.same(await alice.client({ trust: other }).keyring.trust(yes), [{ res, name: "Team" }], "it stays as it was seen");
    await t.rejects(alice.client({ trust: other }).records.list(id), { code: "history_rolled_back" });
    await alice.client({ trust: other }).vaults.trust(id, yes);
    t.same(await alice.client({ trust: other }).records.list(id), [record]);
  },
);

await t.test("two devices write their pins one after another, and neither loses what the other knows", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const other = newDevice();
  await alice.client({ trust: other }).vaults.list();
  await alice.client().vaults.update(id, { name: "One" });
  const troubles: string[] = [];
  const onKeyringTrouble = ({ message }: Error): void => void troubles.push(message);
  await alice.client({ trust: other, onKeyringTrouble }).vaults.update(id, { name: "Two" });
  await alice.client({ onKeyringTrouble }).vaults.list();
  t.same(troubles, []);
  const { version, sealed } = server.vaults.get(id)?.pins.get(alice.session.user.id) ?? { version: 0, sealed: "" };
  const opened = await unboxBound(decodeBase64(alice.session.user_key), sealed, contexts.vaultPin(id, version));
  t.match(JSON.parse(Buffer.from(opened).toString()), { pin: [2, /^[0-9a-f]{64}$/], accepted: true });
  t.equal(version, 3);
  await alice.client({ trust: other }).vaults.list();
  server.received.length = 0;
  await alice.client().vaults.list();
  await alice.client({ trust: other }).vaults.list();
  t.same(
    server.received.map(({ method, path }) => `${method} ${path.split("?")[0] ?? ""}`),
    ["GET /api/vaults", "GET /api/vaults"],
    "who is up to date asks for no history and writes no pin",
  );
});

await t.test("a device forgets a vault that travel mode hides, and knows it again when it is back", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const bob = await newReader(company, id, "bob@example.com");
  t.match(JSON.stringify(await bob.trust.load()), id);
  const hidden = server.vaults.get(id);
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  const kept = JSON.stringify(await bob.trust.load());
  t.notMatch(kept, id);
  t.notMatch(kept, "Team");
  t.notMatch(kept, "vault:");
  if (hidden !== undefined) server.vaults.set(id, hidden);
  t.match(await bob.client().records.list(id), [login], "and was accepted");
  t.match(JSON.stringify(await alice.trust.load()), id);
});

await t.test("who is removed from the organization is named until the vaults are rotated", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, res, record } = company;
  const bob = await newReader(company, id, "bob@example.com", "manage");
  const trap = await bob.client().vaults.create("Bob's", { type: "shared" });
  const held = server.histories.get(res);
  const removal = await alice.client().members.remove(bob.session.user.id);
  t.match(removal, { signed: true, rotate: [{ kind: "vault", id, name: "Team" }] });
  t.notMatch(JSON.stringify(removal), trap.id, "what nobody else has is nobody's to rotate");
  const holders = [alice, bob].map(({ session }) => `user:${session.user.id}`);
  t.same(await alice.client().named(), [{ kind: "vault", id, name: "Team", holders }], "until then it is named");
  if (held === undefined) throw new Error("no history");
  const late = await sign(held.state, res, `user:${bob.session.user.id}`, bob.privateKey, { name: "mine" });
  server.histories.set(res, { entries: [...held.entries, late.text], state: late.state });
  await t.rejects(alice.client().vaults.rotate(id), { code: "signer_removed" });
  server.histories.set(res, held);
  t.match(await alice.client().vaults.rotate(id), { dropped: [{ name: bob.session.user.id }] });
  t.same(await alice.client().stillNaming(`user:${bob.session.user.id}`), []);
  t.match(await alice.client().records.list(id), [{ id: record.id }]);
});

await t.test("a removal is signed also by who does not hold every vault of the person any more", async (t) => {
  const company = await withVault(t);
  const { alice, join, id } = company;
  const bob = await newReader(company, id, "bob@example.com", "manage");
  const admin = await join("admin@example.com", "admin");
  await alice.client().vaults.share(id, { userId: admin.session.user.id, permission: "read" });
  await admin.client().vaults.accept(id);
  await alice.client().vaults.unshare(id, admin.session.user.id);
  t.match(await admin.client().members.remove(bob.session.user.id), { signed: true });
});

await t.test("a vault that was made is found again when its answer was lost", async (t) => {
  const { alice, server } = await startCompany(t);
  const honest = server.answer.bind(server);
  let lost = 0;
  server.answer = async (caller, request, context) => {
    const answer = await honest(caller, request, context);
    if (request.method !== "POST" || request.path !== "/api/vaults" || lost > 0) return answer;
    lost += 1;
    return { status: 503, body: { error: "unavailable", message: "away" } };
  };
  const me = personClient(alice.session, server.url, { trust: alice.trust });
  const { id } = await me.vaults.create("Team", { type: "shared" });
  t.match(await me.records.create(id, login), login);
  t.equal(lost, 1);
  t.equal(server.vaults.size, 1);
});

await t.test("one false acknowledgement of a pin does not lock the device out of the vault", async (t) => {
  const { alice, server, id, record } = await withVault(t);
  let lies = 0;
  const lying: typeof fetch = (input, init) => {
    if (init?.method !== "PUT" || typeof input !== "string" || !input.endsWith("/pin") || lies > 0)
      return fetch(input, init);
    lies += 1;
    return Promise.resolve(Response.json({ version: 2 }));
  };
  const client = alice.client({ fetch: lying });
  await client.vaults.update(id, { name: "Renamed" });
  t.equal(lies, 1);
  t.equal(server.vaults.get(id)?.pins.get(alice.session.user.id)?.version, 2);
  t.same(await client.records.list(id), [record]);
  t.same(await alice.client({ trust: newDevice() }).records.list(id), [record]);
});

await t.test("a vault that was hidden is not shown again as it was before a removal", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, res, record } = company;
  const [bob, eve] = [await newReader(company, id, "bob@example.com"), await newReader(company, id, "eve@example.com")];
  await bob.client().records.list(id);
  const before = structuredClone([server.vaults.get(id), server.histories.get(res)] as const);
  await alice.client().vaults.unshare(id, eve.session.user.id);
  await bob.client().records.list(id);
  const present = [server.vaults.get(id), server.histories.get(res)] as const;
  const show = ([vault, history]: typeof present): void => {
    if (vault !== undefined) server.vaults.set(id, vault);
    if (history !== undefined) server.histories.set(res, history);
  };
  // The service says that Bob travels, and hides the vault.
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  const forgotten = structuredClone(await bob.trust.load());
  t.equal(forgotten.hidden?.length, 8, "whatever the number of hidden vaults");
  show(before);
  const write = () => bob.client().records.create(id, { type: "login", fields: { name: "new" } });
  await t.rejects(write(), { code: "keyring_rolled_back" });
  const pin = present[0]?.pins.get(bob.session.user.id);
  if (pin !== undefined) server.vaults.get(id)?.pins.set(bob.session.user.id, pin);
  await t.rejects(write(), { code: "history_rolled_back" });
  show(present);
  t.match(await bob.client().records.list(id), [{ id: record.id }]);
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  t.equal((await bob.trust.load()).hidden?.length, 8, "the pin of before is replaced");
  show(present);
  t.match(await bob.client().records.list(id), [{ id: record.id }]);
});

await t.test("a device knows whose access to a hidden vault has ended, and the vault's accepted name", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const eve = await newReader(company, id, "eve@example.com");
  const members = structuredClone(server.vaults.get(id)?.members ?? []);
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && path.includes(`${id}/records`) ? new Refusal(503, "unavailable") : body;
  await t.rejects(alice.client().vaults.unshare(id, eve.session.user.id), { code: "unavailable" });
  server.lie = (_, { body }) => body;
  const vault = server.vaults.get(id);
  if (vault === undefined) throw new Error("no vault");
  // The service has not done it, and says that Alice travels.
  vault.members = members;
  const { id: eves } = await eve.client().vaults.create("Eve's", { type: "shared" });
  await eve.client().vaults.share(eves, { userId: alice.session.user.id, permission: "write" });
  await alice.client().vaults.accept(eves);
  const other = server.vaults.get(eves);
  if (other === undefined) throw new Error("no vault");
  for (const one of [id, eves]) server.vaults.delete(one);
  await alice.client().travel.forgetHidden();
  server.vaults.set(eves, other);
  await eve.client().vaults.update(eves, { name: "Team" });
  server.vaults.set(id, vault);
  await alice.client().vaults.list();
  await t.rejects(alice.client().vaults.rotate(id), { code: "holder_unconfirmed" });
  await t.rejects(alice.client().vaults.find("Team"), { code: "name_ambiguous" });
  server.vaults.delete(id);
  await t.rejects(alice.client().vaults.find("Team"), { code: "name_ambiguous" }, "also while the other is hidden");
});

await t.test("a vault that was hidden is not used when its pin of former members does not open", async (t) => {
  const company = await withVault(t);
  const { server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com");
  await bob.client().records.list(id);
  const vault = server.vaults.get(id);
  if (vault === undefined) throw new Error("no vault");
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  server.vaults.set(id, vault);
  const sealed = await box(newKey(), new Uint8Array(9), contexts.vaultPin(id, 9));
  server.lie = showVaults((view) => ({ ...view, sealed_pin: { version: 9, sealed } }));
  await t.rejects(bob.client().records.list(id), { code: "keyring_missing" });
  server.lie = (_, { body }) => body;
  t.match(await bob.client().records.list(id), [{ id: record.id }]);
});

await t.test("a device keeps nothing of a hidden vault that opens without the vault's id", async (t) => {
  const [userKey, id] = [newKey(), newId()];
  const pin = { pin: { seq: 7, hash: "ab".repeat(32) }, accepted: true, version: 12 };
  const none = await withHiddenPins(userKey, [], new Map());
  const one = await withHiddenPins(userKey, none, new Map([[id, pin]]));
  t.same([none.length, one.length], [8, 16]);
  t.equal(new Set([...none, ...one].map((each) => each.length)).size, 1);
  t.same(await hiddenPin(userKey, one, id), pin);
  t.equal(await hiddenPin(userKey, one, newId()), undefined);
  t.equal(await hiddenPin(newKey(), one, id), undefined);
  t.equal(await hiddenPin(userKey, none, id), undefined);
});

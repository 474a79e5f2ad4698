import { newId } from "@coffer/crypto";
import { sign } from "@coffer/history";
import t from "tap";
import { memoryTrust } from "../../src/index.ts";
import type { HistoryServer } from "../server/history-server.ts";
import { login, newReader, showVaults, withVault } from "../server/shared-vault.ts";

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

await t.test("who is removed from the organization is named until the vaults are rotated", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, res, record } = company;
  const bob = await newReader(company, id, "bob@example.com", "manage");
  const trap = await bob.client().vaults.create("Bob's", { type: "shared" });
  const held = server.histories.get(res);
  const removal = await alice.client().members.remove(bob.session.user.id);
  t.match(removal, { signed: true, rotate: [{ kind: "vault", id, name: "Team" }] });
  t.notMatch(JSON.stringify(removal), trap.id, "a vault without other members is not rotated");
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

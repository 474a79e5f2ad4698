import { contexts, newId, newKey, newKeyPair, readInviteToken, seal } from "@coffer/crypto";
import { makeInvitation, sign } from "@coffer/history";
import t from "tap";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { notation, rawEntry, showFolders } from "../server/history-lies.ts";
import { memberOf, newJoinedMachine, startCompany, strangeKey } from "../server/history-people.ts";

await t.test("a colleague who was invited reads a shared folder, and no words are compared", async (t) => {
  const { alice, join, organizationId } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(folder.id, { userId: bob.session.user.id, permission: "read" });

  await t.rejects(bob.client().secrets.read(notation), { code: "not_accepted" }, "before it is accepted");
  const asked: unknown[] = [];
  const accept = (offer: unknown): Promise<boolean> => Promise.resolve(asked.push(offer) > 0);
  t.equal(await bob.client({ accept }).secrets.read(notation), "s3cret");
  t.same(asked, [
    {
      kind: "folder",
      id: folder.id,
      name: "production",
      from: "alice@example.com",
      organization: { id: organizationId, name: "Example" },
      same_name: [],
    },
  ]);
  t.equal(await bob.client({ trust: memoryTrust() }).secrets.read(notation), "s3cret", "another device knows it too");
});

await t.test("a rotation seals to every holder, drops who was taken off, and goes on for the others", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [bob, carol] = [await join("bob@example.com"), await join("carol@example.com")];
  for (const { session } of [bob, carol])
    await alice.client().folders.share(folder.id, { userId: session.user.id, permission: "read" });
  await bob.client().folders.accept(folder.id);
  await alice.client().folders.unshare(folder.id, carol.session.user.id);
  const rotated = await alice.client().folders.rotate(folder.id);
  t.same(
    rotated.sealed_to.map(({ name }) => name),
    ["alice@example.com", "bob@example.com"],
  );
  t.same(
    rotated.dropped.map(({ name }) => name),
    ["carol@example.com"],
  );
  t.equal(await bob.client().secrets.read(notation), "s3cret");
  t.equal(server.histories.get(`folder:${folder.id}`)?.state.ver, 2);
});

await t.test("a service that hands out a key of its own is not believed", async (t) => {
  const { alice, server } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  const foreign = await seal(alice.session.public_key, newKey(), contexts.sharedFolderKey(folder.id));
  server.lie = ({ path, method }, { body }) => {
    if (path !== "/api/org/folders" || method !== "GET") return body;
    const { data } = body as { data: object[] };
    return { data: data.map((one) => ({ ...one, encrypted_key: foreign, encrypted_key_alg: "jwe" })) };
  };
  await t.rejects(alice.client().secrets.set(notation, "s3cret"), { code: "key_mismatch" });
});

await t.test("an older key that the service shows again is not used, also not for reading", async (t) => {
  const { alice, server } = await startCompany(t);
  await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [before] = await alice.client().folders.list();
  await alice.client().folders.rotate(before?.id ?? "");
  const { encrypted_key, encrypted_key_alg, key_version } = before ?? {};
  server.lie = showFolders((one) => ({ ...one, encrypted_key, encrypted_key_alg, key_version }));
  await t.rejects(alice.client().secrets.read(notation), { code: "key_rolled_back" });
  server.lie = showFolders((one) => ({ ...one, encrypted_key, encrypted_key_alg }));
  await t.rejects(alice.client().secrets.read(notation), { code: "key_mismatch" });
});

await t.test(
  "a history that is shorter than before, or another one, is refused until it is trusted again",
  async (t) => {
    const { alice, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const res = `folder:${id}` as const;
    const first = server.histories.get(res);
    if (first === undefined) throw new Error("no history");
    await alice.client().folders.rename(id, "other");
    server.histories.set(res, first);
    const uri = notation.replace("production", "other");
    await t.rejects(alice.client().secrets.read(uri), { code: "history_rolled_back" });
    const another = await sign(first.state, res, `user:${alice.session.user.id}`, alice.privateKey, { name: "forked" });
    server.histories.set(res, { entries: [...first.entries, another.text], state: another.state });
    await t.rejects(alice.client().folders.rename(id, "again"), { code: "history_forked" });
    const asked: string[] = [];
    await t.rejects(
      alice.client().folders.trust(id, () => Promise.resolve(false)),
      { code: "access_denied" },
    );
    await alice.client().folders.trust(id, ({ name }) => Promise.resolve(asked.push(name) > 0));
    t.same(asked, ["alice@example.com"]);
    t.equal(await alice.client().secrets.read(notation.replace("production", "forked")), "s3cret");
  },
);

await t.test("an entry that no manager signed, and one that the service hides, are refused", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "write" });
  const res = `folder:${id}` as const;
  const held = server.histories.get(res);
  const { publicKey, hex } = await strangeKey();
  const forged = { set: [{ who: `user:${newId()}` as const, key: publicKey, perm: "manage" as const }] };
  // The signing client refuses to make it: made without its check.
  const claims = { ...forged, res, seq: 2, prev: held?.state.head.hash, by: `user:${bob.session.user.id}` };
  const text = await rawEntry(claims, bob.privateKey);
  server.lie = ({ path }, { body }) => {
    if (!path.includes(`${id}/history`)) return body;
    return { data: [...(body as { data: string[] }).data, text], history_seq: 2 };
  };
  await t.rejects(alice.client().folders.rename(id, "other"), { code: "history_invalid" });
  server.lie = ({ path }, { body }) =>
    path.includes(`${id}/history`) ? { ...(body as object), history_seq: 7 } : body;
  await t.rejects(alice.client().folders.rename(id, "other"), { code: "bad_answer" });
  t.match(hex, /^[0-9a-f]{64}$/);
});

await t.test("a manager who was removed signs nothing any more, whatever the service lets through", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "manage" });
  await bob.client().folders.accept(id);
  t.match(await alice.client().members.remove(bob.session.user.id), { signed: true, rotate: [{ name: "production" }] });
  const res = `folder:${id}` as const;
  const held = server.histories.get(res);
  if (held === undefined) throw new Error("no history");
  const { text, state } = await sign(held.state, res, `user:${bob.session.user.id}`, bob.privateKey, { name: "mine" });
  server.histories.set(res, { entries: [...held.entries, text], state });
  await t.rejects(alice.client().folders.rename(id, "other"), { code: "signer_removed" });
});

await t.test(
  "an entry of a removed manager that was verified before the removal was seen does not count after it",
  async (t) => {
    const { alice, join, server, organizationId } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const [bob, carol] = [await join("bob@example.com"), await join("carol@example.com")];
    await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "manage" });
    await alice.client().folders.share(id, { userId: carol.session.user.id, permission: "read" });
    await carol.client().folders.accept(id);
    const org = `org:${organizationId}` as const;
    const whole = server.histories.get(org);
    await alice.client().members.remove(bob.session.user.id);
    const removed = server.histories.get(org);
    const res = `folder:${id}` as const;
    const held = server.histories.get(res);
    if (whole === undefined || removed === undefined || held === undefined) throw new Error("no history");

    // The service hides the removal, and shows what the removed manager signs.
    server.histories.set(org, whole);
    const { text, state } = await sign(held.state, res, `user:${bob.session.user.id}`, bob.privateKey, {
      name: "mine",
    });
    server.histories.set(res, { entries: [...held.entries, text], state });
    t.equal(
      await carol.client().secrets.read(notation.replace("production", "mine")),
      "s3cret",
      "as if no time had passed",
    );

    server.histories.set(org, removed);
    const { id: other } = await alice.client().folders.create("other");
    await alice.client().folders.share(other, { userId: carol.session.user.id, permission: "read" });
    await carol.client().folders.accept(other);
    await t.rejects(carol.client().secrets.read(notation.replace("production", id)), { code: "signer_removed" });
  },
);

await t.test("a key is sealed to no person that the organization's history does not name", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  const stranger = newId();
  await t.rejects(alice.client().folders.share(id, { userId: stranger, permission: "read" }), {
    code: "holder_unconfirmed",
  });
  // A holder that the service lists and no manager has signed.
  const grants = server.folders.get(id)?.grants;
  grants?.push({ kind: "user", id: stranger, permission: "read", encrypted_key: null, encrypted_key_alg: null });
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  const rotated = await alice.client().folders.rotate(id);
  t.same(
    rotated.left_out.map((holder) => holder.id),
    [stranger],
  );
  t.equal(grants?.find((grant) => grant.id === stranger)?.encrypted_key, null);
});

await t.test("a holder without a key reads who can seal it, and has it once a manager opens the folder", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  await bob.client().folders.accept(id);
  const grant = server.folders.get(id)?.grants.find((one) => one.id === bob.session.user.id);
  Object.assign(grant ?? {}, { encrypted_key: null, encrypted_key_alg: null });
  await t.rejects(bob.client().secrets.read(notation), { code: "key_pending", message: /alice@example\.com/ });
  await alice.client().secrets.list();
  t.equal(await bob.client().secrets.read(notation), "s3cret");
});

await t.test(
  "the person who rotates has the new key, also when the service lists all members as suspended",
  async (t) => {
    const { alice, join, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const bob = await join("bob@example.com");
    await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
    await bob.client().folders.accept(id);
    server.lie = ({ path, method }, { body }) =>
      path === "/api/org/members" && method === "GET"
        ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, status: "suspended" })) }
        : body;
    await alice.client().folders.rotate(id);
    server.lie = (_request, { body }) => body;
    t.equal(await alice.client().secrets.read(notation), "s3cret");
    t.equal(
      await bob.client().secrets.read(notation),
      "s3cret",
      "the others are sealed to when the folder is opened next",
    );
  },
);

await t.test(
  "who was taken off a folder gets no later key from a service that goes on listing the person",
  async (t) => {
    const { alice, join, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const bob = await join("bob@example.com");
    const userId = bob.session.user.id;
    const machine = await newJoinedMachine(alice, server, [id]);
    await alice.client().folders.share(id, { userId, permission: "read" });
    const held = server.folders.get(id);
    for (const end of [
      () => alice.client().folders.unshare(id, userId),
      () => alice.client().machines.remove(newId(), machine.client_id),
    ]) {
      const before = held?.grants ?? [];
      await end();
      const after = held?.grants ?? [];
      const refused = { code: "holder_unconfirmed", message: /access you have ended/ };
      if (held !== undefined) held.grants = before;
      await t.rejects(alice.client().folders.rotate(id), refused);
      if (held !== undefined) held.grants = after;
    }
    await alice.client().folders.rotate(id);
    await alice.client().folders.share(id, { userId, permission: "read" });
    await alice.client().folders.rotate(id);
    await bob.client().folders.accept(id);
    t.equal(await bob.client().secrets.read(notation), "s3cret", "given again, the person has the key");
  },
);

await t.test(
  "an invitation to what is no e-mail address is refused as that, and nothing is signed or sent",
  async (t) => {
    const { alice, server } = await startCompany(t);
    const before = server.received.length;
    for (const email of ["bob", "bob@", "bob bob@example.com", "", `${"b".repeat(250)}@example.com`])
      await t.rejects(alice.client().invites.create(email, "member"), {
        code: "invalid_request",
        message: `${email} is not an e-mail address`,
      });
    t.equal(server.received.length, before);
  },
);

await t.test("a person does not join a history of the service's own that names the person already", async (t) => {
  const { alice, server } = await startCompany(t);
  const bob = await memberOf(server, "bob@example.com");
  const { token } = await alice.client().invites.create("bob@example.com", "member");
  const [mallory, org, who] = [await newKeyPair(), newId(), `user:${newId()}` as const];
  const { text } = await sign(null, `org:${org}`, who, mallory.privateKey, {
    name: "Example",
    set: [
      { who, key: mallory.publicKey, perm: "manage", email: "alice@example.com" },
      { who: `user:${bob.session.user.id}`, key: bob.session.public_key, perm: "read", email: "bob@example.com" },
    ],
  });
  server.lie = ({ path }, { body }) => (path === "/api/org/invites/history" ? { data: [text], history_seq: 0 } : body);
  await t.rejects(bob.client().invites.accept(token), { code: "join_invalid" });
});

await t.test("a revoked invitation admits no person, although the service keeps it", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const mallory = await memberOf(server, "mallory@example.com");
  const { token, id } = await alice.client().invites.create("mallory@example.com", "admin");
  const kept = structuredClone(server.organizations.get(organizationId)?.invites ?? []);
  t.match(await alice.client().invites.remove(id), [{ name: "Example", email: "mallory@example.com" }]);
  const organization = server.organizations.get(organizationId);
  if (organization !== undefined) organization.invites = kept;
  await t.rejects(mallory.client().invites.accept(token), { code: "join_invalid" });
  t.equal(server.histories.get(`org:${organizationId}`)?.state.holders.length, 1);
  t.same(await alice.client().invites.remove(id), [], "again");
});

await t.test("an invitation does not replace the history of an organization that the person knows", async (t) => {
  const { alice, join, server, organizationId } = await startCompany(t);
  await join("bob@example.com");
  const folder = await alice.client().folders.create("production");
  // A stranger's history under the id of alice's organization, with an invitation for alice at its end.
  const stranger = await memberOf(server, "eve@example.com");
  await stranger.client().organizations.create("Club");
  const { token } = await stranger.client().invites.create("alice@example.com", "member");
  const { tokenHash: tag, wrapKey } = await readInviteToken(token);
  const res = `org:${organizationId}` as const;
  const by = `user:${stranger.session.user.id}` as const;
  const set = [{ who: by, key: stranger.session.public_key, perm: "manage", email: "eve@example.com" } as const];
  let { text, state } = await sign(null, res, by, stranger.privateKey, { name: "Club", set });
  const entries = [text];
  for (let seq = 1; seq < 9; seq += 1) {
    const request = { tag, wrapKey, kind: "user", perm: "read", email: "alice@example.com" } as const;
    const change = seq < 8 ? { name: "Club" } : { invite: [await makeInvitation(state, res, request)] };
    ({ text, state } = await sign(state, res, by, stranger.privateKey, change));
    entries.push(text);
  }
  server.lie = ({ path, body: sent }, { body }) => {
    if (path !== "/api/org/invites/history") return body;
    const { after = -1 } = JSON.parse(sent) as { after?: number };
    return { data: entries.slice(after + 1), history_seq: entries.length - 1 };
  };
  const before = (await alice.trust.load()).resources[res]?.pin;
  await t.rejects(alice.client().invites.accept(token), { code: "history_forked" });
  t.same((await alice.trust.load()).resources[res]?.pin, before);
  await t.rejects(alice.client({ trust: memoryTrust() }).invites.accept(token), { code: "history_forked" });
  server.lie = (_request, { body }) => body;
  t.equal((await alice.client().folders.list())[0]?.id, folder.id);
  t.equal((await alice.client().members.confirmed()).length, 2);
});

await t.test("a client that is up to date fetches no history", async (t) => {
  const { alice, server } = await startCompany(t);
  await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  await alice.client().secrets.read(notation);
  server.received.length = 0;
  const me = alice.client({ freshSeconds: 0 });
  for (let polls = 0; polls < 3; polls += 1) t.equal(await me.secrets.read(notation), "s3cret");
  t.same(
    server.received.map(({ path }) => path.split("/").at(-1)),
    ["folders", "secrets", "secrets", "secrets"],
  );
});

await t.test("the members of a folder are those of its history, whatever the service lists", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const [bob, eve, carl] = [
    await join("bob@example.com"),
    await join("eve@example.com"),
    await join("carl@example.com"),
  ];
  for (const { session } of [bob, eve])
    await alice.client().folders.share(id, { userId: session.user.id, permission: "manage" });
  const members = async () =>
    (await alice.client().folders.members(id)).map(({ name, permission, problem, ended }) => {
      return { name, permission, problem, ended };
    });
  const ofAlice = { name: "alice@example.com", permission: "manage", problem: null, ended: false };
  const ofBob = { ...ofAlice, name: "bob@example.com" };
  t.same(await members(), [ofAlice, ofBob, { ...ofBob, name: "eve@example.com" }]);
  // The service hides one, makes the other a reader, and lists another person.
  const listed = server.folders.get(id);
  const grants = [...(listed?.grants ?? [])];
  const lie = grants.flatMap((grant) => {
    if (grant.id === eve.session.user.id) return [{ ...grant, id: carl.session.user.id }];
    return grant.id === bob.session.user.id ? [{ ...grant, permission: "read" as const }] : [grant];
  });
  if (listed !== undefined) listed.grants = lie;
  t.same(await members(), [
    ofAlice,
    ofBob,
    { name: "carl@example.com", permission: "manage", problem: "holder_unconfirmed", ended: false },
    { name: "eve@example.com", permission: "manage", problem: null, ended: true },
  ]);
  await alice.client().folders.rotate(id);
  t.same(
    (await members()).map(({ ended }) => ended),
    [false, false, false],
  );
});

await t.test("a member that the service does not list any more is ended, and the rotation drops it", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  const userId = bob.session.user.id;
  await alice.client().folders.share(id, { userId, permission: "read" });
  const gone: typeof fetch = (input, init) =>
    init?.method === "DELETE"
      ? Promise.resolve(Response.json({ error: "not_found" }, { status: 404 }))
      : fetch(input, init);
  const client = alice.client({ fetch: gone });
  await client.folders.unshare(id, userId);
  await t.rejects(client.folders.rotate(id), { code: "holder_unconfirmed" }, "the service lists it still");
  const folder = server.folders.get(id);
  if (folder !== undefined) folder.grants = folder.grants.filter((grant) => grant.id !== userId);
  t.match(await client.folders.rotate(id), { dropped: [{ id: userId }] });
  await t.rejects(client.folders.unshare(id, userId), { code: "not_found" });
});

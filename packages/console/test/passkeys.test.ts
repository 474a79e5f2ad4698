import { decodeBase64, encodeBase64, newKey } from "@coffer/crypto";
import type { PersonSession } from "@coffer/sdk";
import t from "tap";
import { type KeptSession, passkeyStore } from "../src/worker/session/passkeys.ts";

// What lies in the browser, and who opens it. Two stores of one storage are two workers of one origin.

const salt = "c2FsdA";

function keptSession(given: Partial<PersonSession> = {}): KeptSession {
  const session: PersonSession = {
    url: "https://coffer.example",
    user: { id: crypto.randomUUID(), email: "alice@example.com", name: null },
    session_id: crypto.randomUUID(),
    access_token: "access-1",
    access_expires_at: 1000,
    refresh_token: "refresh-1",
    refresh_expires_at: 5000,
    user_key: encodeBase64(newKey()),
    public_key: "public",
    encrypted_private_key: "private",
    ...given,
  };
  return { session, key: { salt: newKey(), key: newKey() } };
}

function memoryStorage() {
  const memory = { text: undefined as string | undefined };
  return {
    memory,
    load: () => Promise.resolve(memory.text),
    save: (text: string) => Promise.resolve(void (memory.text = text)),
  };
}

const answer = (id: string, prf: Uint8Array) => ({ id, prf: new Uint8Array(prf).buffer });

/** A store with the passkey of one person. */
async function added() {
  const storage = memoryStorage();
  const store = passkeyStore(() => undefined, storage);
  const kept = keptSession();
  const prf = newKey();
  await store.add({ ...answer("one", prf), salt, name: "Laptop" }, () => Promise.resolve(kept));
  return { storage, store, kept, prf, user: kept.session.user };
}

const newer = (session: PersonSession): PersonSession => ({
  ...session,
  access_token: "access-2",
  access_expires_at: 2000,
  refresh_token: "refresh-2",
});

await t.test("the passkey opens the session with the key of its lock, and the answer is cleared", async (t) => {
  const { store, kept, prf, user } = await added();
  t.match(store.shown(user.id), [{ id: "one", salt, name: "Laptop" }]);
  t.same(Object.keys(store.shown(undefined)[0] ?? {}).sort(), ["addedAt", "id", "name", "salt"]);
  const given = answer("one", prf);
  t.same(await store.open(given), kept);
  t.same(new Uint8Array(given.prf), new Uint8Array(32));
});

await t.test("another output, another credential and another person's seal open nothing", async (t) => {
  const { storage, store, kept, prf } = await added();
  t.equal(await store.open(answer("one", newKey())), null);
  t.equal(await store.open(answer("two", prf)), null);
  await t.rejects(store.open(answer("one", newKey().subarray(1))), { code: "invalid_key" });
  const before = storage.memory.text ?? "";
  storage.memory.text = before.replace(kept.session.user.id, crypto.randomUUID());
  t.equal(await store.open(answer("one", prf)), null, "the account is part of the seal");
  storage.memory.text = before;
  const other = keptSession();
  await store.add({ ...answer("two", newKey()), salt, name: "Other" }, () => Promise.resolve(other));
  const all = JSON.parse(storage.memory.text) as Record<string, { session: string; userKey: string }>;
  const [own, foreign] = [all[kept.session.user.id], all[other.session.user.id]];
  if (own === undefined || foreign === undefined) throw new Error("both are stored");
  own.session = foreign.session;
  storage.memory.text = JSON.stringify(all);
  t.equal(await store.open(answer("one", prf)), null, "a session of another user key");
});

await t.test("neither keys nor tokens nor the e-mail lie open", async (t) => {
  const { storage, kept, prf } = await added();
  const text = storage.memory.text ?? "";
  const { session, key } = kept;
  for (const secret of [session.user_key, session.refresh_token, session.user.email, encodeBase64(key.key)])
    t.notOk(text.includes(secret));
  t.notOk(text.includes(encodeBase64(prf)));
});

await t.test("two seals of the same are different", async (t) => {
  const { storage, store, kept, prf } = await added();
  const before = storage.memory.text ?? "";
  await store.add({ ...answer("one", prf), salt, name: "Laptop" }, () => Promise.resolve(kept));
  const of = (text: string) =>
    Object.values(JSON.parse(text) as Record<string, { session: string; userKey: string }>)[0];
  t.not(of(before)?.userKey, of(storage.memory.text ?? "")?.userKey);
  t.not(of(before)?.session, of(storage.memory.text ?? "")?.session);
});

await t.test("a session that has ended meanwhile gets no passkey", async (t) => {
  const storage = memoryStorage();
  const store = passkeyStore(() => undefined, storage);
  await store.add({ ...answer("one", newKey()), salt, name: "Laptop" }, () => Promise.resolve(null));
  t.equal(storage.memory.text, undefined);
  t.same(store.shown(undefined), []);
});

await t.test("a renewal is stored without the passkey, and opens with it", async (t) => {
  const { store, kept, prf } = await added();
  const renewed = await store.renew(kept.session, (session) => Promise.resolve(newer(session)));
  t.equal(renewed.refresh_token, "refresh-2");
  t.same(await store.open(answer("one", prf)), { ...kept, session: renewed });
});

await t.test("two workers spend a refresh token once", async (t) => {
  const { storage, store, kept } = await added();
  const other = passkeyStore(() => undefined, storage);
  const spent: string[] = [];
  const refresh = (session: PersonSession): Promise<PersonSession> => {
    spent.push(session.refresh_token);
    return Promise.resolve(newer(session));
  };
  const [first, second] = await Promise.all([store.renew(kept.session, refresh), other.renew(kept.session, refresh)]);
  t.same(spent, ["refresh-1"]);
  t.same(first, second);
});

await t.test("an older state in the storage, and another session, take the place of none", async (t) => {
  const { storage, store, kept, prf } = await added();
  const before = storage.memory.text;
  const renewed = await store.renew(kept.session, (session) => Promise.resolve(newer(session)));
  storage.memory.text = before;
  const third = { ...renewed, refresh_token: "refresh-3", access_expires_at: 3000 };
  t.same(await store.renew(renewed, () => Promise.resolve(third)), third);
  const foreign = { ...kept.session, session_id: crypto.randomUUID(), access_expires_at: 10 };
  t.same(await store.renew(foreign, (session) => Promise.resolve(newer(session))), newer(foreign));
  t.equal((await store.open(answer("one", prf)))?.session.refresh_token, "refresh-3", "the session of the passkey");
});

await t.test("a later login and a new password are what the passkey opens from then on", async (t) => {
  const { store, kept, prf } = await added();
  const next = { ...keptSession(), session: { ...kept.session, session_id: crypto.randomUUID() } };
  await store.keep(next.session, () => next);
  t.same(await store.open(answer("one", prf)), next);
  const stranger = { ...kept.session, user_key: encodeBase64(newKey()) };
  await t.rejects(
    store.keep(stranger, () => next),
    { code: "decryption_failed" },
  );
  t.same(await store.open(answer("one", prf)), next);
});

await t.test("what is removed stays removed, also when a renewal ends later", async (t) => {
  const { storage, store, kept, prf, user } = await added();
  const answered = Promise.withResolvers<PersonSession>();
  const renewing = store.renew(kept.session, () => answered.promise);
  await store.remove([user.id]);
  answered.resolve(newer(kept.session));
  t.same(await renewing, newer(kept.session));
  t.equal(storage.memory.text, "{}");
  t.equal(await store.open(answer("one", prf)), null);
  t.same(store.persons(), []);
});

await t.test("one person's end leaves another person's passkey", async (t) => {
  const { store, kept, prf, user } = await added();
  const other = keptSession();
  const otherPrf = newKey();
  await store.add({ ...answer("two", otherPrf), salt, name: "Bob" }, () => Promise.resolve(other));
  t.equal(store.shown(undefined).length, 2);
  await store.remove([other.session.user.id]);
  t.same(store.shown(undefined), store.shown(user.id));
  t.same(await store.open(answer("one", prf)), kept);
  t.equal(await store.open(answer("two", otherPrf)), null);
});

await t.test("another worker's change is read; a browser that stores nothing has none", async (t) => {
  const { storage, user } = await added();
  let changes = 0;
  const other = passkeyStore(() => (changes += 1), storage);
  await other.loaded;
  t.equal(other.shown(user.id).length, 1);
  storage.memory.text = "{}";
  await other.read();
  t.same(other.shown(undefined), []);
  t.equal(changes, 0);

  const refusing = {
    load: () => Promise.reject(new Error("refused")),
    save: () => Promise.reject(new Error("refused")),
  };
  const none = passkeyStore(() => undefined, refusing);
  await none.loaded;
  t.same(none.persons(), []);
  const { session } = keptSession();
  t.same(await none.renew(session, (old) => Promise.resolve(newer(old))), newer(session), "a session goes on");
});

await t.test("the seal of the user key is box v1 under HKDF of the output", async (t) => {
  const { storage, kept, prf, user } = await added();
  const [stored] = Object.values(JSON.parse(storage.memory.text ?? "{}") as Record<string, { userKey: string }>);
  const bytes = decodeBase64(stored?.userKey ?? "");
  const text = (value: string) => new TextEncoder().encode(value);
  const base = await crypto.subtle.importKey("raw", prf, "HKDF", false, ["deriveKey"]);
  const key = await crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: text("coffer/v1/passkey") },
    base,
    { name: "AES-GCM", length: 256 },
    false,
    ["decrypt"],
  );
  const opened = await crypto.subtle.decrypt(
    { name: "AES-GCM", iv: bytes.subarray(1, 13), additionalData: text(`coffer/v1/passkey/${user.id}`) },
    key,
    bytes.subarray(13),
  );
  t.equal(encodeBase64(new Uint8Array(opened)), kept.session.user_key);
});

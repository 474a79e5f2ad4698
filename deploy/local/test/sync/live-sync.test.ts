import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageProblems } from "@coffer/openapi";
import { personClient, type PersonClient, type PersonSession } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart, until } from "../npm-start.ts";
import { newAccount, secondSession } from "../vault-people.ts";

// The WebSocket messages of a whole installation, without the SDK, which hides them.

const directory = testDirectory(t);
const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "100000", COFFER_LIMIT_USER: "100000" };
const coffer = npmStart(t, { directory, env: { ...limits, COFFER_DRAIN_SECONDS: "2" } });
const { url } = await coffer.ready;

type Message = Record<string, unknown> & { type: string };

/** Deviations from the description, in any message. */
const undescribed: string[] = [];

/** A connection with all received messages. */
interface Listener {
  messages: Message[];
  pushes(): Message[];
  sync(request?: object): Promise<Message>;
  closed(): Promise<number>;
}

async function listen({ access_token: token }: PersonSession): Promise<Listener> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/sync/ws`, ["coffer.sync.v1", `bearer.${token}`]);
  t.teardown(() => socket.close());
  const messages: Message[] = [];
  let code = 0;
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message; // compared with the description in the next line
    undescribed.push(...messageProblems("server", message));
    messages.push(message);
  });
  socket.addEventListener("close", (event) => (code = event.code));
  await until(() => socket.readyState === WebSocket.OPEN);
  if (socket.protocol !== "coffer.sync.v1") throw new Error(`the protocol is ${socket.protocol}`);
  const sync = async (request: object = {}): Promise<Message> => {
    const answers = (): Message[] => messages.filter(({ type }) => type === "sync_response");
    const before = answers().length;
    socket.send(JSON.stringify({ type: "sync_request", ...request }));
    await until(() => answers().length > before);
    return answers()[before] ?? { type: "none" };
  };
  return {
    messages,
    sync,
    pushes: () => messages.filter(({ type }) => type === "push"),
    closed: async () => {
      await until(() => code !== 0);
      return code;
    },
  };
}

/** Waits until a connection has received a push with these fields. */
async function pushed(listener: Listener, wanted: Record<string, unknown>): Promise<void> {
  const isWanted = (push: Message): boolean => Object.entries(wanted).every(([name, value]) => push[name] === value);
  await until(() => listener.pushes().some(isWanted));
}

const aliceSession = await newAccount(url, "alice@example.com");
const alice = personClient(aliceSession, url);
const { token } = await alice.invites.create("bob@example.com", "member");
const bobSession = await newAccount(url, "bob@example.com", token);
const bob = personClient(bobSession, url);
const bobsId = bobSession.user.id;
const login = async (): Promise<{ session: PersonSession; me: PersonClient; listener: Listener }> => {
  const session = await secondSession(url, "bob@example.com");
  const listener = await listen(session);
  await listener.sync();
  return { session, me: personClient(session, url), listener };
};

await t.test("a change of a record, a vault and its members is pushed to the people concerned", async (t) => {
  const [hers, his] = [await listen(aliceSession), await listen(bobSession)];
  const { server_time } = await hers.sync();
  t.match(await his.sync(), { changes: [], deleted: [], has_more: false, reset: false });
  const vault = await alice.vaults.create("Team", { type: "shared" });
  await pushed(hers, { action: "vault_created", vault_id: vault.id });
  const { id } = await alice.records.create(vault.id, { type: "login", fields: { name: "a", password: "1" } });
  await pushed(hers, { action: "record_created", record_id: id, vault_id: vault.id });
  t.same(his.pushes(), [], "a person without the vault receives nothing");

  await alice.vaults.share(vault.id, { userId: bobsId, permission: "write" });
  await pushed(his, { action: "vault_created", vault_id: vault.id });
  await bob.vaults.accept(vault.id);
  await bob.records.update(vault.id, id, { fields: { name: "a", password: "2" } });
  for (const listener of [hers, his]) await pushed(listener, { action: "record_updated", record_id: id });
  const answer = await hers.sync({ last_sync: server_time });
  t.match(answer, { changes: [{ id, vault_id: vault.id, action: "created", type: "login" }], deleted: [] });
  const [change] = answer["changes"] as Record<string, unknown>[];
  t.equal(change?.["updated_at"], change?.["server_timestamp"]);
  t.equal(
    hers.pushes().find(({ action }) => action === "record_updated")?.["updated_at"],
    change?.["updated_at"],
    "the push says of which version it is",
  );

  await bob.travel.start();
  await pushed(his, { action: "vault_deleted", vault_id: vault.id });
  t.match(await his.sync({ last_sync: server_time }), { changes: [], deleted: [{ id, vault_id: vault.id }] });
  await alice.records.remove(vault.id, id);
  await pushed(hers, { action: "record_deleted", record_id: id });
  t.notOk(his.pushes().some(({ action }) => action === "record_deleted"));
  t.match(await hers.sync({ last_sync: String(answer["server_time"]) }), { changes: [], deleted: [{ id }] });
  await alice.vaults.remove(vault.id);
  await pushed(hers, { action: "vault_deleted", vault_id: vault.id });
});

await t.test("a change of a folder is pushed to its present and former holders", async () => {
  const [hers, his] = [await listen(aliceSession), await listen(bobSession)];
  await Promise.all([hers.sync(), his.sync()]);
  const { id } = await alice.folders.create("production");
  const folder = { action: "folder_updated", folder_id: id };
  await alice.folders.share(id, { userId: bobsId, permission: "read" });
  await pushed(his, { ...folder, change: "membership" });
  await alice.secrets.set("coffer://production/database/field/password", "s3cret");
  for (const listener of [hers, his]) await pushed(listener, { ...folder, change: "secrets" });
  await alice.folders.rotate(id);
  for (const listener of [hers, his]) await pushed(listener, { ...folder, change: "key" });
  const before = his.pushes().length;
  await alice.folders.unshare(id, bobsId);
  await until(() => his.pushes().length > before);
});

await t.test("a session that is ended by an administrator gets a logout, and is closed with 4001", async (t) => {
  const { session, listener } = await login();
  await alice.members.endSessions(bobsId, session.session_id);
  await pushed(listener, { action: "logout", reason: "admin_revoked", session_id: session.session_id });
  t.equal(await listener.closed(), 4001);
});

await t.test("a logout closes with 4001 without a push", async (t) => {
  const { me, listener } = await login();
  await me.logout();
  t.equal(await listener.closed(), 4001);
  t.same(listener.pushes(), []);
});

await t.test("a suspension in the only organization sends a logout", async (t) => {
  const { listener } = await login();
  await alice.members.update(bobsId, { status: "suspended" });
  await pushed(listener, { action: "logout", reason: "member_suspended" });
  t.equal(await listener.closed(), 4001);
});

await t.test("at shutdown connections are closed with 1012, and no token is in any log", async (t) => {
  const listeners = await Promise.all([listen(aliceSession), listen(aliceSession)]);
  process.kill(coffer.state().pid, "SIGTERM");
  for (const listener of listeners) t.equal(await listener.closed(), 1012);
  t.equal(await coffer.exited, 0);
  const [, payload = ""] = aliceSession.access_token.split(".");
  const logs = readdirSync(join(directory, "log")).map((name) => readFileSync(join(directory, "log", name), "utf8"));
  t.ok(logs.length > 2);
  for (const log of logs) t.notOk(log.includes(payload));
});

await t.test("every message matched docs/spec/sync", (t) => {
  t.same(undescribed, []);
  t.end();
});

import { setImmediate } from "node:timers/promises";
import { allEvents, allRpcs, type ServiceName, serviceNames, signingKeys } from "@coffer/events";
import { testNats } from "@coffer/testkit";
import { connect, errors, type NatsConnection } from "@nats-io/transport-node";
import t from "tap";
import { natsPermission, natsServerConfig, natsUsers } from "../src/index.ts";
import { connected, openBus } from "./buses.ts";

const server = await testNats(t);

async function rawConnection(t: { teardown(work: () => unknown): unknown }, service: ServiceName) {
  const { user, password } = server.credentials[service];
  const connection = await connect({ servers: server.url, user, pass: password });
  t.teardown(() => connection.close());
  const refused: string[] = [];
  void (async () => {
    for await (const status of connection.status())
      if (status.type === "error" && status.error instanceof errors.PermissionViolationError)
        refused.push(`${status.error.operation} ${status.error.subject}`);
  })();
  return { connection, refused };
}

interface Raw {
  connection: NatsConnection;
  refused: string[];
}

/** Whether the server allows it. A refusal arrives before the answer to a flush, one turn later. */
async function passes({ connection, refused }: Raw, act: () => unknown): Promise<boolean> {
  const before = refused.length;
  act();
  await connection.flush();
  await setImmediate();
  return refused.length === before;
}

const maySubscribe = (raw: Raw, subject: string): Promise<boolean> =>
  passes(raw, () => raw.connection.subscribe(subject, { callback: () => undefined }));

const mayPublish = (raw: Raw, subject: string): Promise<boolean> =>
  passes(raw, () => raw.connection.publish(subject, "{}"));

for (const service of serviceNames)
  void t.test(`${service} may publish and subscribe exactly as its subjects declare`, async (t) => {
    const raw = await rawConnection(t, service);
    for (const { subject, callers, responder } of allRpcs) {
      t.equal(await mayPublish(raw, subject), callers.includes(service), `requests ${subject}`);
      t.equal(await maySubscribe(raw, subject), responder === service, `answers ${subject}`);
    }
    for (const { subject, publisher, consumers } of allEvents) {
      t.equal(await mayPublish(raw, subject), publisher === service, `publishes ${subject}`);
      t.equal(await maySubscribe(raw, subject), consumers.includes(service), `consumes ${subject}`);
    }
  });

for (const service of serviceNames)
  void t.test(`${service} may subscribe to its own inbox only`, async (t) => {
    const raw = await rawConnection(t, service);
    for (const other of serviceNames) {
      t.equal(await maySubscribe(raw, `_INBOX_${other}.>`), other === service, `_INBOX_${other}.>`);
      t.equal(await maySubscribe(raw, `_INBOX_${other}.x`), other === service, `_INBOX_${other}.x`);
    }
    for (const subject of [
      ">",
      "*",
      "coffer.>",
      "coffer.rpc.*.*",
      "_INBOX.>",
      "_INBOX_*.>",
      "*.>",
      "$SYS.>",
      "$JS.API.>",
    ])
      t.notOk(await maySubscribe(raw, subject), subject);
  });

void t.test("a service cannot publish to an inbox without a request from it", async (t) => {
  for (const service of serviceNames) {
    const raw = await rawConnection(t, service);
    for (const subject of [
      "_INBOX_vaults.x.1",
      "_INBOX_auth-sm.x.1",
      "$JS.API.STREAM.CREATE.x",
      "$SYS.REQ.SERVER.PING",
    ])
      t.notOk(await mayPublish(raw, subject), `${service} to ${subject}`);
  }
});

void t.test("a responder may reply to the caller once", async (t) => {
  const vaults = openBus(t, server, "vaults");
  await connected(vaults);
  const raw = await rawConnection(t, "auth-sm");
  const inboxOf = Promise.withResolvers<string>();
  raw.connection.subscribe(signingKeys.subject, {
    callback: (_error, message) => {
      message.respond(JSON.stringify({ value: { keys: [] } }));
      inboxOf.resolve(message.reply ?? "");
    },
  });
  await raw.connection.flush();
  t.same(await vaults.request(signingKeys, {}), { keys: [] });
  const inbox = await inboxOf.promise;
  t.match(inbox, /^_INBOX_vaults\./);
  t.notOk(await mayPublish(raw, inbox), "a second answer");
});

void t.test("a wrong, another user's or no password is refused", async (t) => {
  const { "auth-sm": auth, vaults } = server.credentials;
  const attempts = [{ user: "auth-sm", pass: "wrong" }, { user: vaults.user, pass: auth.password }, {}];
  for (const attempt of attempts)
    await t.rejects(connect({ servers: server.url, reconnect: false, ...attempt }), { name: "AuthorizationError" });
});

void t.test("users are named as their services, and every service has its inbox", (t) => {
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, `pw-${name}`])) as Record<ServiceName, string>;
  const users = natsUsers(passwords);
  t.same(
    users.map(({ user }) => user),
    [...serviceNames],
  );
  for (const { user, password, subscribe } of users) {
    t.equal(password, `pw-${user}`);
    t.ok(subscribe.includes(`_INBOX_${user}.>`));
  }
  for (const service of serviceNames)
    t.equal(
      natsPermission(service).allowResponses,
      allRpcs.some(({ responder }) => responder === service),
    );
  t.end();
});

void t.test("a password that the file cannot hold, or that looks like a hash, is refused", (t) => {
  const configOf = (password: string): string =>
    natsServerConfig({
      users: [{ user: "vaults", password, publish: [], subscribe: [], allowResponses: false }],
      host: "127.0.0.1",
      port: 4222,
    });
  for (const password of ["", "a b", 'a"b', "a\\b", "a\nb", "pässword", "$2a$11$abcdefghijkl", "$2y$10$x"])
    t.throws(() => configOf(password), TypeError, JSON.stringify(password));
  for (const password of ["x", "a$b", "#a;b{c}", "$2x-not-a-hash"]) t.match(configOf(password), `"${password}"`);
  t.match(configOf("x"), 'publish: { deny: [">"] }', "an empty list is not everything");
  t.match(configOf("x"), "max_payload: 1048576");
  t.end();
});

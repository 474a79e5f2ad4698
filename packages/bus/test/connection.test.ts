import { type AddressInfo, connect as dial, createServer, type Socket } from "node:net";
import { type ServiceName, serviceNames } from "@coffer/events";
import { testNats, until } from "@coffer/testkit";
import t from "tap";
import { natsServerConfig, natsUsers } from "../src/index.ts";
import { connected, echo, event, openBus, openBuses } from "./buses.ts";

void t.test(
  "a service starts without the bus, fails its requests at once, and uses the bus once it is there",
  async (t) => {
    const server = await testNats(t);
    await server.stop();
    const [vaults, auth] = [openBus(t, server, "vaults"), openBus(t, server, "auth-sm")];
    auth.reply(echo, (input) => input);
    t.notOk(vaults.connected);
    const start = performance.now();
    const requested = vaults.request(echo, { text: "x" }, { timeoutMilliseconds: 30_000 });
    await t.rejects(requested, { code: "unavailable", message: "the bus is away" });
    t.ok(performance.now() - start < 15_000, "without waiting");
    let connections = 0;
    vaults.onConnect(() => (connections += 1));

    const ready = Promise.all([connected(vaults), connected(auth)]);
    await server.start();
    const up = performance.now();
    await ready;
    t.ok(performance.now() - up < 15_000, `connected after ${performance.now() - up} ms`);
    t.ok(vaults.connected);
    t.equal(connections, 1);
    t.same(await vaults.request(echo, { text: "x" }), { text: "x" });
    t.equal(vaults.logged().split("the bus cannot be reached").length - 1, 1, "one line, however often it is tried");
  },
);

void t.test("after a crash of the server all registrations are active again", async (t) => {
  const server = await testNats(t);
  const [vaults, auth] = await openBuses(t, server, "vaults", "auth-sm");
  if (vaults === undefined || auth === undefined) throw new Error("two buses");
  const seen: string[] = [];
  auth.reply(echo, (input) => input);
  vaults.subscribe(event, ({ text }) => seen.push(text));
  await Promise.all([auth.flush(), vaults.flush()]);

  for (const round of ["first", "second"]) {
    await server.kill();
    await until("both have noticed", () => !vaults.connected && !auth.connected);
    await t.rejects(vaults.request(echo, { text: "x" }), { code: "unavailable" });
    t.throws(() => auth.publish(event, { text: "lost" }), { code: "unavailable" });
    await server.start();
    await until("both are connected again", () => vaults.connected && auth.connected);
    t.same(await vaults.request(echo, { text: round }), { text: round });
    auth.publish(event, { text: round });
    await until("the event of this round", () => seen.includes(round));
  }
  t.same(seen, ["first", "second"], "an event that failed is not published later");
});

void t.test("what the server refuses for want of a permission is counted", async (t) => {
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, `p-${name}`])) as Record<ServiceName, string>;
  const users = natsUsers(passwords).map((user) => ({
    ...user,
    publish: user.publish.filter((subject) => user.user !== "vaults" || subject !== echo.subject),
    subscribe: user.subscribe.filter((subject) => user.user !== "vaults" || subject !== event.subject),
  }));
  const config = natsServerConfig({ users, host: "127.0.0.1", port: 4222 });
  const server = await testNats(t, { config });
  const credentials = Object.fromEntries(
    serviceNames.map((user) => [user, { user, password: passwords[user] }]),
  ) as typeof server.credentials;
  const vaults = openBus(t, { ...server, credentials }, "vaults");
  const value = async (name: string): Promise<string> =>
    new RegExp(`${name}.*?"values":(\\[.*?\\])`).exec(await vaults.measured())?.[1] ?? "";
  vaults.subscribe(event, () => undefined);
  await connected(vaults);
  await until("the refused subscription", async () =>
    /"value":1/.test(await value("coffer_bus_refused_subscriptions")),
  );
  await t.rejects(vaults.request(echo, { text: "x" }, { timeoutMilliseconds: 200 }));
  const refusals = async (operation: string): Promise<boolean> =>
    new RegExp(`"value":1,"labels":\\{"service":"vaults","operation":"${operation}"`).test(
      await value("coffer_bus_refusals_total"),
    );
  for (const operation of ["subscribe", "publish"]) await until(operation, () => refusals(operation));
  t.match(vaults.logged(), "the bus refused a subscription of this service");
  t.match(vaults.logged(), "the bus refused something");
  await server.kill();
  await until("it has noticed", () => !vaults.connected);
  await server.start();
  await until("it is connected again", () => vaults.connected);
  t.match(await value("coffer_bus_refused_subscriptions"), '"value":1', "counted for each connection");
});

void t.test("a reply that is under way while the server reloads is counted as a refused reply", async (t) => {
  const server = await testNats(t);
  const [vaults, auth, scanner] = await openBuses(t, server, "vaults", "auth-sm", "scanner");
  if (vaults === undefined || auth === undefined || scanner === undefined) throw new Error("three buses");
  const arrived = Promise.withResolvers<undefined>();
  const released = Promise.withResolvers<undefined>();
  auth.reply(echo, async (input) => {
    arrived.resolve(undefined);
    await released.promise;
    return input;
  });
  await auth.flush();
  const lost = t.rejects(vaults.request(echo, { text: "x" }, { timeoutMilliseconds: 1_000 }), { code: "unavailable" });
  await arrived.promise;

  const passwords = Object.fromEntries(serviceNames.map((name) => [name, server.credentials[name].password])) as Record<
    ServiceName,
    string
  >; // made from the list of names
  const users = natsUsers(passwords).filter(({ user }) => user !== "scanner");
  server.reload(natsServerConfig({ users, host: "127.0.0.1", port: 4222 }));
  await until("the server has reloaded", () => !scanner.connected);
  released.resolve(undefined);
  await lost;
  const refusals = async (operation: string): Promise<string | undefined> =>
    new RegExp(`"value":(\\d+),"labels":\\{"service":"auth-sm","operation":"${operation}"`).exec(
      await auth.measured(),
    )?.[1];
  await until("the refused reply", async () => (await refusals("reply")) === "1");
  t.equal(await refusals("publish"), "0");
});

void t.test("every connection calls the listeners, after the subscriptions are active", async (t) => {
  const server = await testNats(t);
  const auth = openBus(t, server, "auth-sm");
  const vaults = openBus(t, server, "vaults");
  const seen: string[] = [];
  let connections = 0;
  vaults.subscribe(event, ({ text }) => seen.push(text));
  vaults.onConnect(async () => {
    connections += 1;
    const text = `sent in connection ${connections}`;
    await until("auth-sm is connected", () => auth.connected);
    auth.publish(event, { text });
  });
  await until("the event", () => seen.length === 1);
  await server.kill();
  await until("both have noticed", () => !vaults.connected && !auth.connected);
  await server.start();
  await until("the second is there", () => seen.length === 2);
  t.same(seen, ["sent in connection 1", "sent in connection 2"]);
  vaults.onConnect(() => seen.push("at once"));
  await until("the third is there", () => seen.length === 3);
});

void t.test("a failing listener is logged and does not disturb others", async (t) => {
  const server = await testNats(t);
  const vaults = openBus(t, server, "vaults");
  vaults.onConnect(() => {
    throw new Error("listener failed");
  });
  vaults.onConnect(() => Promise.reject(new Error("listener rejected")));
  await connected(vaults);
  await until(
    "both failures are logged",
    () => /listener failed/.test(vaults.logged()) && /listener rejected/.test(vaults.logged()),
  );
  t.ok(vaults.connected);
});

void t.test("a request in flight when the connection goes fails at once, not after its time", async (t) => {
  const server = await testNats(t);
  const [vaults, auth] = await openBuses(t, server, "vaults", "auth-sm");
  const reached = Promise.withResolvers<undefined>();
  const finished = Promise.withResolvers<{ text: string }>();
  auth?.reply(echo, () => {
    reached.resolve(undefined);
    return finished.promise;
  });
  await auth?.flush();
  const answer = vaults?.request(echo, { text: "x" }, { timeoutMilliseconds: 30_000 }).catch((e: unknown) => e);
  await Promise.race([reached.promise, answer]);
  const start = performance.now();
  await server.kill();
  t.match(await answer, { code: "unavailable" });
  t.ok(performance.now() - start < 15_000);
  finished.resolve({ text: "too late" });
});

void t.test("a silent loss of the server is noticed within ten seconds", async (t) => {
  const server = await testNats(t);
  const sockets: Socket[] = [];
  let silent = false;
  const proxy = createServer((near) => {
    const far = dial(Number(new URL(server.url).port), "127.0.0.1");
    sockets.push(near, far);
    near.on("data", (chunk) => silent || far.write(chunk));
    far.on("data", (chunk) => silent || near.write(chunk));
    for (const socket of [near, far]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => proxy.close(resolve));
  });
  const { port } = proxy.address() as AddressInfo; // it listens on a TCP port
  const vaults = openBus(t, { ...server, url: `nats://127.0.0.1:${port}` }, "vaults");
  await connected(vaults);
  silent = true;
  const start = performance.now();
  await until("it has noticed", () => !vaults.connected);
  t.comment(`noticed after ${Math.round(performance.now() - start)} ms`);
  silent = false;
  await until("it is connected again", () => vaults.connected);
  t.pass("and it is back when the network is");
});

void t.test("of several addresses a reachable one is used", async (t) => {
  const server = await testNats(t);
  const vaults = openBus(t, { ...server, url: `nats://127.0.0.1:9, ${server.url}` }, "vaults");
  await connected(vaults);
  t.ok(vaults.connected);
});

void t.test("with a wrong password the service stays up without the bus, and the log has no password", async (t) => {
  const server = await testNats(t);
  const credentials = { ...server.credentials, vaults: { user: "vaults", password: "c4n4ry-pw" } };
  const vaults = openBus(t, { ...server, credentials }, "vaults");
  await until("it is logged", () => /cannot be reached/.test(vaults.logged()));
  await t.rejects(vaults.request(echo, { text: "x" }), { code: "unavailable" });
  t.match(vaults.logged(), /AuthorizationError/);
  t.notMatch(vaults.logged(), "c4n4ry-pw");
});

void t.test("the gauge shows whether the bus is connected", async (t) => {
  const server = await testNats(t);
  const vaults = openBus(t, server, "vaults");
  t.match(await vaults.measured(), /"value":0,"labels":\{"service":"vaults"\}/);
  await connected(vaults);
  t.match(await vaults.measured(), /"value":1,"labels":\{"service":"vaults"\}/);
  await server.kill();
  await until("the metric says so", async () =>
    /"value":0,"labels":\{"service":"vaults"\}/.test(await vaults.measured()),
  );
});

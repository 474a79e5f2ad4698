import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIP } from "node:net";
import type { AddressInfo } from "node:net";
import type { TestScope } from "@coffer/testkit";
import { until } from "@coffer/testkit";
import ipaddr from "ipaddr.js";
import pg from "pg";
import t from "tap";
import { createResolve } from "../../src/outgoing/resolve.ts";
import { startForwarder, startStores } from "../forwarder.ts";
import { hecToken, startHec } from "./receivers/vendors.ts";
import { idsOf, startSiem } from "./siem.ts";
import { draftsOf } from "./draft.ts";
import { webhooksAt } from "./webhooks.ts";

/**
 * A DNS server that calls `answer` for each query, for an address of either family; null: no such
 * name.
 */
async function startDns(
  t: TestScope,
  answer: (name: string) => string | null,
): Promise<{ address: string; asked: string[] }> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const answers = new Map<string, string | null>();
  socket.on("message", (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let size = question[at] ?? 0; size > 0; size = question[at] ?? 0) {
      labels.push(question.subarray(at + 1, at + 1 + size).toString("latin1"));
      at += size + 1;
    }
    const type = question.readUInt16BE(at + 1);
    const name = labels.join(".").toLowerCase();
    if (type === 1) asked.push(name);
    // Both families are asked for at the same time; the question for IPv4 decides what a changing answer is.
    if (type === 1) answers.set(name, answer(name));
    const address = type === 1 ? answers.get(name) : (answers.get(name) ?? answer(name));
    const family = isIP(address ?? "");
    const isAnswered = (type === 1 && family === 4) || (type === 28 && family === 6);
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isAnswered ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const bytes = isAnswered ? ipaddr.parse(address ?? "").toByteArray() : [];
    const record = isAnswered ? [0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes] : [];
    socket.send(Buffer.concat([header, question.subarray(12, at + 5), Buffer.from(record)]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.teardown(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

await t.test("a name whose address changes after the creation is refused at each connect", async (t) => {
  const target = await startHec(t);
  const port = new URL(target.url).port;
  let address = "203.0.113.9";
  const dns = await startDns(t, (name) => (name === "rebinding.example" ? address : null));
  const strict = await startForwarder(t, await startStores(t), undefined, {
    env: { COFFER_SIEM_ALLOWED_CIDRS: "10.99.0.0/16" },
    seams: { resolve: createResolve({ servers: [dns.address] }), lookMilliseconds: null, outgoingMilliseconds: 500 },
  });
  const orgId = "01900000-0000-7c59-aa7c-f8d2bbd49abc";
  const owner = await strict.people.add([{ orgId, role: "owner" }]);
  const webhooks = webhooksAt(strict.url);
  const body = { format: "hec", url: `https://rebinding.example:${port}/`, credentials: { token: hecToken } };
  const { status, body: created } = await webhooks.create(owner, body);
  t.equal(status, 201);
  address = "127.0.0.1";
  await strict.append(draftsOf(orgId, 1));
  const before = dns.asked.length;
  await strict.tick();
  t.ok(dns.asked.length > before, "the name was resolved again");
  t.match((await webhooks.list(owner))[0]?.last_delivery, {
    status: null,
    error: "the endpoint has a private or reserved address, which is not allowed",
  });
  t.match((await webhooks.call(owner, "POST", `/${created.id}/test`)).body, {
    ok: false,
    status: null,
    error: "the endpoint has a private or reserved address, which is not allowed",
  });
  t.equal((await webhooks.create(owner, body)).status, 400, "and the name is refused at a creation now");
  t.equal(target.requests.length, 0);
});

/** What no endpoint may be: each is refused at the creation, and when a connection is made. */
const vectors = [
  ...["127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3"],
  ...["100.64.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.1", "192.168.0.1", "198.18.0.1", "224.0.0.1"],
  ...["240.0.0.1", "255.255.255.255", "localhost", "localhost.", "LOCALHOST", "a.localhost", "127.0.0.1."],
  ...["[::1]", "[::]", "[::7f00:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fc00::1]"],
  ...["[fd00:ec2::254]", "[fe80::1]", "[ff02::1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]"],
];

await t.test(
  "each private or reserved address is refused at creation, as text and by name, and at connect",
  async (t) => {
    const target = await startHec(t);
    const { port } = new URL(target.url);
    let address = "203.0.113.9";
    const dns = await startDns(t, () => address);
    const stores = await startStores(t);
    const strict = await startForwarder(t, stores, undefined, {
      env: { COFFER_SIEM_ALLOWED_CIDRS: "10.99.0.0/16" },
      seams: {
        resolve: createResolve({ servers: [dns.address] }),
        lookMilliseconds: null,
        outgoingMilliseconds: 2_000,
      },
    });
    const database = new pg.Client({ connectionString: stores.postgres.url });
    await database.connect();
    t.teardown(() => database.end());
    const orgId = "01900000-0000-7c59-aa7c-f8d2bbd49abd";
    const owner = await strict.people.add([{ orgId, role: "owner" }]);
    const webhooks = webhooksAt(strict.url);
    const to = (host: string) => ({
      format: "hec",
      url: `https://${host}:${port}/`,
      credentials: { token: hecToken },
    });
    const { id } = (await webhooks.create(owner, to("siem.example"))).body;
    await strict.append(draftsOf(orgId, 1));
    const refusedAtConnect = async (url: string, message: string): Promise<void> => {
      // As if the check at the creation had a hole.
      await database.query(
        `update siem_forwarder.siem_endpoints
       set url = $2, failing_since = null, attempts = 0, next_attempt_at = null where id = $1`,
        [id, url],
      );
      await strict.tick();
      t.match((await webhooks.list(owner))[0]?.last_delivery, { status: null, error: /private or reserved/ }, message);
    };
    for (const host of vectors) {
      const refused = { status: 400, body: { details: [{ field: "url", issue: /private or reserved/ }] } };
      t.match(await webhooks.create(owner, to(host)), refused, `creation: ${host}`);
      await refusedAtConnect(to(host).url, `connect: ${host}`);
      address = host.replace(/^\[(.*)\]$/, "$1");
      if (isIP(address) === 0) continue;
      t.match(await webhooks.create(owner, to("named.example")), refused, `creation by name: ${address}`);
      await refusedAtConnect(to("named.example").url, `connect by name: ${address}`);
    }
    t.equal(target.requests.length, 0);
  },
);

await t.test("a connection goes to the address that was checked: the name is not resolved a second time", async (t) => {
  const splunk = await startHec(t);
  const { port } = new URL(splunk.url);
  const answers: string[] = [];
  const dns = await startDns(t, () => answers.shift() ?? "203.0.113.9");
  const siem = await startSiem(t, { seams: { resolve: createResolve({ servers: [dns.address] }) } });
  const { owner, record } = await siem.company();
  answers.push("127.0.0.1");
  const url = `http://changing.example:${port}/`;
  t.equal((await siem.webhooks.create(owner, { format: "hec", url, credentials: { token: hecToken } })).status, 201);
  const ids = await record(1);
  const before = dns.asked.length;
  answers.push("127.0.0.1", "10.0.0.1");
  await siem.tick();
  t.same(idsOf(splunk.taken), ids);
  t.equal(dns.asked.length, before + 1, "one question for one connection");
  t.equal(splunk.requests[0]?.headers.host, `changing.example:${port}`);
});

await t.test("localhost, in each spelling, and names of the hosts file are known without DNS", async (t) => {
  const dns = await startDns(t, () => "203.0.113.9");
  const resolve = createResolve({ servers: [dns.address] });
  for (const name of ["localhost", "localhost.", "LOCALHOST", "a.localhost", "a.b.localhost."])
    t.same(await resolve(name), ["127.0.0.1", "::1"], name);
  t.same(dns.asked, []);
  t.same(await resolve("Siem.Example."), ["203.0.113.9"]);
  const nothing = await startDns(t, () => null);
  await t.rejects(createResolve({ servers: [nothing.address] })("siem.example"), { name: "NameNotResolved" });
});

await t.test("an answer is read up to 64 KiB, and a receiver that does not end it costs 15 s at most", async (t) => {
  const siem = await startSiem(t, { seams: { outgoingMilliseconds: 700 } });
  const splunk = await startHec(t);
  const { owner, record } = await siem.company();
  await siem.webhooks.create(owner, { format: "hec", url: splunk.url, credentials: { token: hecToken } });
  const ids = await record(1);
  let sent = 0;
  const endless = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write("x".repeat(16_384))) sent += 16_384;
      };
      socket.on("drain", more);
      more();
    });
  });
  endless.listen(0, "127.0.0.1");
  await once(endless, "listening");
  t.teardown(() => endless.close());
  const [first] = await siem.webhooks.list(owner);
  await siem.webhooks.change(owner, first?.id ?? "", {
    url: `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`,
    credentials: { token: hecToken },
  });
  await siem.tick();
  t.match((await siem.webhooks.list(owner))[0]?.last_delivery, { status: 200, error: "the endpoint answered 200" });
  t.ok(sent < 16 * 1024 * 1024, `${sent} bytes were sent`);
  await siem.webhooks.change(owner, first?.id ?? "", { url: splunk.url, credentials: { token: hecToken } });
  splunk.interfere = () => new Promise(() => undefined);
  await siem.tick();
  t.match((await siem.webhooks.list(owner))[0]?.last_delivery, {
    status: null,
    error: "the endpoint did not answer in time",
  });
  splunk.interfere = null;
  await siem.pass(1);
  await siem.tick();
  t.same(
    idsOf(splunk.taken).filter((id) => ids.includes(id)),
    ids,
  );
});

await t.test("a tarpit beside a quick endpoint changes nothing for the quick one", async (t) => {
  const siem = await startSiem(t, { seams: { outgoingMilliseconds: 10_000 } });
  const [quick, slow] = [await startHec(t), await startHec(t)];
  const { owner, record } = await siem.company();
  const hec = (url: string) => ({ format: "hec", url, credentials: { token: hecToken } });
  for (let n = 0; n < 5; n += 1) await siem.webhooks.create(owner, hec(slow.url));
  await siem.webhooks.create(owner, hec(quick.url));
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  slow.interfere = () => held.then(() => null);
  const ids = await record(600);
  const first = siem.tick();
  await until("the quick one has all", () => idsOf(quick.taken).length >= ids.length);
  t.equal(slow.taken.length, 0);
  const more = await record(10);
  const others: Promise<void>[] = [];
  await until("and what came meanwhile", () => {
    others.push(siem.tick());
    return idsOf(quick.taken).length >= ids.length + more.length;
  });
  t.equal(slow.taken.length, 0);
  release();
  await Promise.all([first, ...others]);
  const reads = idsOf(quick.taken).filter((id) => [...ids, ...more].includes(id));
  t.same(reads, [...ids, ...more]);
});

await t.test("the proxy variables of the environment are not used", async (t) => {
  const [proxy, splunk] = [await startHec(t), await startHec(t)];
  const before = process.env;
  process.env = { ...before, HTTP_PROXY: proxy.url, http_proxy: proxy.url, ALL_PROXY: proxy.url };
  t.teardown(() => {
    process.env = before;
  });
  const siem = await startSiem(t, { stores: await startStores(t) });
  const { owner, record } = await siem.company();
  await siem.webhooks.create(owner, { format: "hec", url: splunk.url, credentials: { token: hecToken } });
  const ids = await record(1);
  await siem.tick();
  t.same(idsOf(splunk.taken), ids);
  t.equal(proxy.requests.length, 0);
});

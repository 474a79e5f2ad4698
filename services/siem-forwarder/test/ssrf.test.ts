import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { TestScope } from "@coffer/testkit";
import { until } from "@coffer/testkit";
import t from "tap";
import { createResolve } from "../src/outgoing/resolve.ts";
import { startForwarder, startStores } from "./forwarder.ts";
import { hecToken, startHec } from "./receivers/vendors.ts";
import { idsOf, startSiem } from "./siem.ts";
import { draftsOf } from "./draft.ts";
import { webhooksAt } from "./webhooks.ts";

/** A DNS server that answers questions for IPv4 addresses by `answer`, which it asks each time; null is no such name. */
async function startDns(
  t: TestScope,
  answer: (name: string) => string | null,
): Promise<{ address: string; asked: string[] }> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
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
    const address = type === 1 ? answer(name) : null;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(address === null && type === 1 ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(address === null ? 0 : 1, 6);
    header.writeUInt32BE(0, 8);
    const record =
      address === null ? [] : [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)];
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
  });
  await siem.tick();
  t.match((await siem.webhooks.list(owner))[0]?.last_delivery, { status: 200, error: "the endpoint answered 200" });
  t.ok(sent < 16 * 1024 * 1024, `${sent} bytes were sent`);
  await siem.webhooks.change(owner, first?.id ?? "", { url: splunk.url });
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

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testAuthority, testDirectory, testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import t from "tap";
import { startProcess } from "../faults/process.ts";
import { hecToken, startHec } from "./receivers/vendors.ts";
import { idsOf, startSiem } from "./siem.ts";

const hec = (url: string) => ({ format: "hec", url, credentials: { token: hecToken } });
const authority = testAuthority();

await t.test(
  "a certificate of an unknown authority, or of another name, ends the connection; nothing is lost",
  async (t) => {
    const siem = await startSiem(t);
    const { owner, record } = await siem.company();
    const unknown = await startHec(t, { tls: authority.issue(["localhost"]) });
    const plain = await startHec(t);
    await siem.webhooks.create(owner, hec(unknown.url));
    await siem.webhooks.create(owner, hec(plain.url.replace("http://", "https://")));
    const ids = await record(2);
    await siem.tick();
    const [first, second] = await siem.webhooks.list(owner);
    const failed = { status: null, error: /^the TLS connection to the endpoint failed: / };
    t.match(first?.last_delivery, failed);
    t.match(second?.last_delivery, failed);
    t.equal(unknown.requests.length, 0);
    await siem.webhooks.change(owner, first?.id ?? "", hec(plain.url));
    await siem.tick();
    t.same(
      idsOf(plain.taken).filter((id) => ids.includes(id)),
      ids,
    );
  },
);

await t.test(
  "NODE_EXTRA_CA_CERTS names an authority of one's own; the name and the end of the certificate still count",
  async (t) => {
    const [postgres, nats, redis] = await Promise.all([testPostgres(t), testNats(t), testRedis(t)]);
    const siem = await startSiem(t, { stores: { postgres, nats, redis } });
    const { owner, record } = await siem.company();
    const right = await startHec(t, { tls: authority.issue(["localhost"]) });
    const wrong = await startHec(t, { tls: authority.issue(["siem.example"]) });
    const { id: rightId } = (await siem.webhooks.create(owner, hec(right.url))).body;
    const { id: wrongId } = (await siem.webhooks.create(owner, hec(wrong.url))).body;
    const expired = await startHec(t, { tls: authority.issue(["localhost"], { expired: true }) });
    const { id: expiredId } = (await siem.webhooks.create(owner, hec(expired.url))).body;
    const file = join(testDirectory(t), "authority.pem");
    writeFileSync(file, authority.cert);
    await startProcess(t, { postgres, nats, redis }, { NODE_EXTRA_CA_CERTS: file });
    const ids = await record(3);
    await until("they are delivered", () => ids.every((id) => idsOf(right.taken).includes(id)), 60);
    const lastOf = async (id: string) =>
      (await siem.webhooks.list(owner)).find((each) => each.id === id)?.last_delivery;
    await until("the wrong name is noticed", async () => (await lastOf(wrongId)) !== null, 60);
    t.match(await lastOf(wrongId), { status: null, error: /^the TLS connection to the endpoint failed: ERR_TLS_CERT/ });
    t.match(await lastOf(rightId), { status: 200, error: null });
    t.equal(wrong.requests.length, 0);
    await until("the end of a certificate is noticed", async () => (await lastOf(expiredId)) !== null, 60);
    const ended = "the TLS connection to the endpoint failed: CERT_HAS_EXPIRED";
    t.match(await lastOf(expiredId), { status: null, error: ended });
    t.equal(expired.requests.length, 0);
  },
);

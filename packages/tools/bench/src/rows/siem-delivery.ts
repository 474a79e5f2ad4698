import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { Agent, request } from "undici";
import { siemKey } from "../coffer.ts";
import { interleaved, median } from "../measure.ts";
import { type BenchOf, type Figure, ratioFigure, type RowOf } from "../row.ts";
import type { SeededAudit } from "../seed-audit.ts";

const perBatch = 500;
const atLeast = 5_000;

/**
 * Delivery of a backlog to one endpoint, beside bare undici with the same bytes, one request at a time;
 * and the same delivery beside an endpoint that never answers.
 */
export const siemDelivery: RowOf<SeededAudit> = {
  name: "siem-delivery",
  async run({ coffer, seeded, rounds }: BenchOf<SeededAudit>): Promise<Figure[]> {
    const receiver = fork(resolve(import.meta.dirname, "../siem-receiver-process.ts"));
    const client = new pg.Client({ connectionString: coffer.postgresUrl, options: "-c search_path=siem_forwarder" });
    await client.connect();
    const agent = new Agent({ connections: 1 });
    const tarpit = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
    try {
      await once(tarpit, "listening");
      const [{ port }] = (await once(receiver, "message")) as [{ port: number }]; // the program's own message
      const url = `http://127.0.0.1:${port}/services/collector/event`;
      const has = async (number: number): Promise<number> => {
        receiver.send(number);
        const [{ records }] = (await once(receiver, "message")) as [{ records: number }]; // the program's own message
        return records;
      };
      const id = await makeEndpoint(client, seeded.orgId, url);
      const { port: tarpitPort } = tarpit.address() as AddressInfo; // a TCP port, not a pipe
      const slowId = await makeEndpoint(client, seeded.orgId, `http://127.0.0.1:${tarpitPort}/`);
      const { rows } = await client.query<{ record: string; time: string }>(
        "select record::text as record from audit_records where chain_id = $1 order by seq",
        [seeded.orgId],
      );
      const count = rows.length;
      const bodies = batchesOf(rows.map(({ record }) => record));
      const deliver = async (): Promise<number> => {
        const before = await has(0);
        await client.query("update siem_endpoints set position = 0, enabled = true where id = $1", [id]);
        // The service looks once a second: the time counts from the first batch.
        const [first, began] = [await has(before + 1), performance.now()];
        const last = await has(before + count);
        const rate = ((last - first) * 1_000) / (performance.now() - began);
        // The service stores the position after the delivery, and would overwrite a 0 set before that.
        const delivered = "select from siem_endpoints where id = $1 and position >= $2";
        while ((await client.query(delivered, [id, count])).rowCount === 0) await pause(5);
        return rate;
      };
      const post = async (): Promise<number> => {
        const began = performance.now();
        for (const body of bodies) {
          const answer = await request(url, { method: "POST", dispatcher: agent, body });
          await answer.body.dump();
        }
        return (count * 1_000) / (performance.now() - began);
      };
      const deliverBesideTarpit = async (): Promise<number> => {
        const connected = once(tarpit, "connection");
        const enable = "update siem_endpoints set enabled = $2, next_attempt_at = null where id = $1";
        await client.query(enable, [slowId, true]);
        const [socket] = (await connected) as [Socket];
        const rate = await deliver();
        await client.query(enable, [slowId, false]);
        socket.destroy();
        return rate;
      };
      const { a, b: both } = await interleaved(rounds, deliver, async () => ({
        posted: await post(),
        besideTarpit: await deliverBesideTarpit(),
      }));
      const value = median(a);
      const posted = median(both.map((each) => each.posted));
      const besideTarpit = median(both.map((each) => each.besideTarpit));
      const figure = ratioFigure("siem: delivery to one endpoint", "records/s", value, posted, { atLeast: 0.5 });
      return [
        figure,
        { ...figure, name: "siem: delivery, by itself", target: `≥ ${atLeast} records/s`, holds: value >= atLeast },
        ratioFigure("siem: delivery beside a tarpit", "records/s", besideTarpit, value, { atLeast: 0.9 }),
      ];
    } finally {
      await agent.close();
      await client.end();
      tarpit.close();
      receiver.disconnect();
    }
  },
};

/** An endpoint as the service stores it. */
async function makeEndpoint(client: pg.Client, orgId: string, url: string): Promise<string> {
  const file = resolve(import.meta.dirname, "../../../../../services/siem-forwarder/src/credentials/seal.ts");
  const { createSealer } = (await import(file)) as {
    createSealer(keys: string[]): { seal(text: string, context: string): string }; // the service's own
  };
  const id = randomUUID();
  const sealed = createSealer([siemKey]).seal(JSON.stringify({ token: "bench" }), id);
  await client.query(
    `insert into siem_endpoints (id, org_id, format, url, credentials, enabled, created_at, updated_at, position)
     values ($1, $2, 'hec', $3, $4, false, now(), now(), 0)`,
    [id, orgId, url, sealed],
  );
  return id;
}

function batchesOf(records: readonly string[]): string[] {
  const events = records.map(
    (record) =>
      `{"time":1795168800.123,"host":"coffer.test","source":"coffer","sourcetype":"coffer:audit","event":${record}}`,
  );
  return Array.from({ length: Math.ceil(events.length / perBatch) }, (_, n) =>
    events.slice(n * perBatch, (n + 1) * perBatch).join("\n"),
  );
}

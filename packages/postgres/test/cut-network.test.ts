import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import t from "tap";
import { ServiceError } from "@coffer/errors";
import { testPostgres } from "@coffer/testkit";
import { z } from "zod";
import { createAuditLog, outboxMigrations } from "@coffer/outbox";
import { createDatabase, migrate, sql } from "../src/index.ts";
import { limits } from "../src/connection.ts";
import { auditDraft, recordedTelemetry } from "./support.ts";

const { url } = await testPostgres(t);

/** A network to Postgres that can be cut: connections stay open without data. */
async function network(): Promise<{ url: string; cut: () => void; mend: () => void }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let whole = true;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => whole && to.write(data));
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on("error", () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return { url: through.href, cut: () => (whole = false), mend: () => (whole = true) };
}

void t.test(
  "a network that is cut without a word is noticed in bounded time, and again in order when it is mended",
  async (t) => {
    const wire = await network();
    await migrate({ url: wire.url, schema: "cut", packages: { outbox: outboxMigrations } });
    const database = createDatabase({ url: wire.url, schema: "cut", telemetry: recordedTelemetry().telemetry });
    t.teardown(() => database.close());
    const audit = createAuditLog(database);
    const read = database.prepared("one", "select 1 as n");
    const uses = {
      prepared: { bound: limits.shortAnswer, run: () => read([]) },
      audit: { bound: limits.shortAnswer, run: () => audit(auditDraft()) },
      pool: {
        bound: limits.answer,
        run: () => database.pool.one(sql.type(z.object({ n: z.number() }))`select 1 as n`),
      },
      transaction: {
        bound: limits.answer,
        run: () => database.transaction((tx) => tx.query(sql.typeAlias("void")`select`)),
      },
    };
    for (const { run } of Object.values(uses)) await run();
    wire.cut();
    await Promise.all(
      Object.entries(uses).map(async ([name, { bound, run }]) => {
        const started = performance.now();
        const error = await run().then(
          () => "no error",
          (reason: unknown) => reason,
        );
        const took = performance.now() - started;
        t.ok(error instanceof ServiceError && error.code === "unavailable", `${name}: ${String(error)}`);
        t.ok(took < bound + limits.connect, `${name} after ${took.toFixed(0)} ms`);
      }),
    );
    const started = performance.now();
    await t.rejects(read([]), { code: "unavailable" }, "a new connection is given up too");
    // The machine may stall meanwhile, for less than the response timeout.
    const took = performance.now() - started;
    t.ok(took < limits.answer - 1_000, `${took.toFixed(0)} ms`);
    wire.mend();
    for (const [name, { run }] of Object.entries(uses))
      await t.resolves(
        run().then(() => undefined),
        name,
      );
  },
);

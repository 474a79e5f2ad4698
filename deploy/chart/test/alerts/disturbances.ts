import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isAlive } from "@coffer/stores";
import { until } from "@coffer/testkit";
import { freshAddress, send } from "../../../local/test/faults/caller.ts";
import type { Prometheus } from "./prometheus.ts";
import { newEndpoint, pidOf, type Stage, stripeSecret } from "./stage.ts";

const run = promisify(execFile);
const drillProgram = fileURLToPath(new URL("../../../../services/siem-forwarder/src/drill-main.ts", import.meta.url));

/** Ends a fault. */
type Mend = () => unknown;

/** A fault that must wake a person. */
export interface Disturbance {
  alert: string;
  /** Labels of the alert that it must cause, besides its name. */
  labels?: Readonly<Record<string, string>>;
  /** What happens, for the report. */
  what: string;
  /** The alert's window is so long that its end is not awaited. */
  lasts?: true;
  /** Begins it; returns the mend. */
  begin(stage: Stage, prometheus: Prometheus): Mend | Promise<Mend>;
}

/** Runs `work` again and again until the returned function is called. */
function cycle(work: () => Promise<unknown>): () => Promise<void> {
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) await work();
  })();
  return async () => {
    ending.abort();
    await running;
  };
}

/** As `cycle`, by several workers at once. */
function crowd(size: number, work: () => Promise<unknown>): () => Promise<unknown> {
  const ends = Array.from({ length: size }, () => cycle(work));
  return () => Promise.all(ends.map((end) => end()));
}

/** Lets a part of the network hang for a while, again and again. */
function hangs({ gates }: Stage, name: keyof Stage["gates"], held: number, open: number): () => Promise<void> {
  return cycle(async () => {
    gates[name].hold();
    await pause(held);
    gates[name].open();
    await pause(open);
  });
}

/** Locks a table until the returned function is called. */
async function lock({ connect }: Stage, table: string): Promise<() => Promise<void>> {
  const client = await connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
}

/** Kills a service after a change, and waits until another process replaces it. */
async function replace(stage: Stage, service: "scanner", change: () => void): Promise<void> {
  const pid = pidOf(stage.state(), service);
  change();
  process.kill(pid, "SIGKILL");
  await until(
    "the service is replaced",
    () => {
      const next = stage.state().services[service]?.pid;
      return next !== undefined && next !== pid && isAlive(next);
    },
    60,
  );
}

async function postEvent(url: string, signature: string): Promise<void> {
  const headers = {
    "content-type": "application/json",
    "stripe-signature": signature,
    "x-forwarded-for": freshAddress(),
  };
  await fetch(`${url}/api/webhooks/stripe`, { method: "POST", headers, body: "{}" });
}

/** Runs a restore drill whose copy is the running installation itself, with a backup of this age. */
async function drill({ directory, state, signal }: Stage, ageDays: number): Promise<void> {
  const file = join(directory, "drill.json");
  const created = new Date(Date.now() - ageDays * 86_400_000).toISOString();
  writeFileSync(file, JSON.stringify({ created_at: created, started_at: new Date().toISOString(), schemas: {} }));
  const url = state().stores.postgres;
  // A copy is at rest.
  signal("siem-forwarder", "SIGSTOP");
  await run(process.execPath, [drillProgram, "--copy", url, "--drill", file, "--own-schema"], {
    env: { PATH: process.env["PATH"], COFFER_POSTGRES_URL: url },
  })
    .catch((error: unknown) => {
      // It ends with 1 when it finds something.
      if ((error as { stderr?: string }).stderr !== "") throw error;
    })
    .finally(() => signal("siem-forwarder", "SIGCONT"));
}

const someRecord = "(SELECT id FROM siem_forwarder.audit_records ORDER BY id LIMIT 1)";

export const disturbances: readonly Disturbance[] = [
  {
    alert: "CofferAvailabilityBurn",
    labels: { service: "auth-sm", window: "1h" },
    what: "Postgres cannot be reached",
    begin: ({ gates: { postgres } }) => {
      postgres.close();
      return () => postgres.open();
    },
  },
  {
    alert: "CofferLatencyBurn",
    labels: { service: "auth-sm", window: "1h" },
    what: "a table that reads need is locked for half a second, again and again",
    begin: (stage) =>
      cycle(async () => {
        const unlock = await lock(stage, "auth_sm.secrets");
        await pause(500);
        await unlock();
      }),
  },
  {
    alert: "CofferPushFreshnessBurn",
    labels: { service: "sync", window: "1h" },
    what: "NATS hangs for 2.5 s, again and again",
    begin: (stage) => hangs(stage, "nats", 2_500, 500),
  },
  {
    alert: "CofferSyncPushSlow",
    what: "NATS hangs for 7.5 s, again and again",
    begin: (stage) => hangs(stage, "nats", 7_500, 1_000),
  },
  {
    alert: "CofferSyncConnectionsLost",
    what: "the gateway cuts the devices' connections and takes no others",
    begin: async ({ gates: { devices } }, prometheus) => {
      const usual = "avg_over_time(coffer_sync_connections[2m] offset 20s)";
      await until("there were many devices", async () => ((await prometheus.query(usual))[0]?.value ?? 0) > 21, 300);
      devices.close();
      return () => devices.open();
    },
  },
  {
    alert: "CofferServiceGone",
    labels: { service: "scanner" },
    what: "the process of scanner is stopped",
    begin: ({ signal }) => {
      signal("scanner", "SIGSTOP");
      return () => signal("scanner", "SIGCONT");
    },
  },
  {
    alert: "CofferOutboxStuck",
    labels: { service: "auth-sm" },
    what: "the process of siem-forwarder is stopped",
    begin: ({ signal }) => {
      signal("siem-forwarder", "SIGSTOP");
      return () => signal("siem-forwarder", "SIGCONT");
    },
  },
  {
    alert: "CofferOutboxParked",
    labels: { service: "auth-sm" },
    what: "auth-sm sends an audit record that siem-forwarder does not understand",
    begin: async ({ sql }) => {
      await sql(`INSERT INTO auth_sm.outbox (lane, id, subject, payload)
        SELECT 'siem-forwarder', gen_random_uuid(), subject, '[{"action": "of a later version"}]'
        FROM (VALUES ('coffer.rpc.siem-forwarder.append')) AS of (subject)`);
      // The retries need two and a half minutes.
      const hurry = cycle(async () => {
        await sql("UPDATE auth_sm.outbox SET not_before = now() WHERE attempts BETWEEN 1 AND 4");
        await pause(500);
      });
      return async () => {
        await hurry();
        await sql("DELETE FROM auth_sm.outbox WHERE attempts > 0");
      };
    },
  },
  {
    alert: "CofferSyncMomentHeld",
    what: "a person leaves a transaction open",
    begin: async ({ connect }) => {
      const client = await connect();
      await client.query("BEGIN; SELECT pg_current_xact_id()");
      return () => client.end();
    },
  },
  {
    alert: "CofferLimiterDegraded",
    what: "Redis cannot be reached",
    begin: ({ gates: { redis } }) => {
      redis.close();
      return () => redis.open();
    },
  },
  {
    alert: "CofferBusDisconnected",
    what: "NATS cannot be reached",
    begin: ({ gates: { nats } }) => {
      nats.close();
      return () => nats.open();
    },
  },
  {
    alert: "CofferBusRefused",
    labels: { service: "scanner" },
    what: "NATS comes back without a permission of scanner",
    begin: ({ gates, nats }) => {
      gates.nats.lead(nats.withoutPermission);
      return () => gates.nats.lead(nats.url);
    },
  },
  {
    alert: "CofferDatabaseNotWritable",
    what: "Postgres is read-only, as a standby",
    begin: async ({ sql }) => {
      await sql("ALTER SYSTEM SET default_transaction_read_only = on");
      await sql("SELECT pg_reload_conf()");
      return async () => {
        await sql("ALTER SYSTEM RESET default_transaction_read_only");
        await sql("SELECT pg_reload_conf()");
      };
    },
  },
  {
    alert: "CofferDatabaseNotWritable",
    labels: { service: "vaults" },
    what: "Postgres hangs",
    begin: ({ gates: { postgres } }) => {
      postgres.hold();
      return () => postgres.open();
    },
  },
  {
    alert: "CofferDatabasePoolSaturated",
    labels: { service: "siem-forwarder", pool: "transactions" },
    what: "a table is locked, and many callers read it",
    begin: async (stage) => {
      const unlock = await lock(stage, "siem_forwarder.audit_records");
      const leave = crowd(40, () => stage.readAudit());
      return async () => {
        await unlock();
        await leave();
      };
    },
  },
  {
    alert: "CofferEventLoopLag",
    labels: { service: "scanner" },
    what: "scanner gets a fifth of its time",
    begin: ({ signal }) =>
      cycle(async () => {
        signal("scanner", "SIGSTOP");
        await pause(400);
        signal("scanner", "SIGCONT");
        await pause(100);
      }),
  },
  {
    alert: "CofferAuthFailures",
    labels: { service: "auth-sm" },
    what: "requests with invented tokens",
    begin: ({ url }) =>
      cycle(async () => {
        await send(url, { method: "GET", path: "/api/sm/v1/secrets", bearer: "invented" });
        await pause(50);
      }),
  },
  {
    alert: "CofferSiemBacklog",
    what: "a SIEM does not answer, and secrets are read 10,500 times",
    begin: async (stage) => {
      stage.siem.behaves = "hangs";
      await newEndpoint(stage, "slow");
      let left = 10_500;
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          for (; left > 0; left -= 1) await stage.read();
        }),
      );
      return async () => {
        stage.siem.behaves = "well";
        await stage.person.data(["siem", "set", "slow", "--enable"]);
      };
    },
  },
  {
    alert: "CofferSiemDeliveryFailing",
    what: "a SIEM refuses the token",
    begin: async (stage) => {
      stage.siem.behaves = "refuses";
      await newEndpoint(stage, "refusing");
      return async () => {
        stage.siem.behaves = "well";
        await stage.person.data(["siem", "set", "refusing", "--enable"]);
      };
    },
  },
  {
    alert: "CofferBillingSignatures",
    what: "five events with a wrong signature",
    lasts: true,
    begin: async ({ url }) => {
      const now = Math.floor(Date.now() / 1_000);
      for (let event = 0; event < 5; event += 1) await postEvent(url, `t=${now},v1=${"0".repeat(64)}`);
      return () => undefined;
    },
  },
  {
    alert: "CofferBillingUnknownPrice",
    what: "one subscription with a price that no plan names",
    lasts: true,
    begin: async ({ person, orgId }) => {
      const event = [
        "dev",
        "stripe-event",
        "customer.subscription.updated",
        "--org",
        orgId,
        "--price",
        "price_unknown",
      ];
      await person.data(event, { env: { COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecret } });
      return () => undefined;
    },
  },
  {
    alert: "CofferMembershipsDisbelieved",
    labels: { service: "vaults" },
    what: "auth-sm has a database without memberships",
    begin: async ({ sql, gates: { nats } }) => {
      const compareNow = async (): Promise<void> => {
        nats.close();
        await pause(500);
        nats.open();
      };
      await sql(`CREATE TABLE public.lost AS TABLE auth_sm.memberships;
        SET session_replication_role = replica; DELETE FROM auth_sm.memberships`);
      await compareNow();
      return async () => {
        await sql(`SET session_replication_role = replica;
          INSERT INTO auth_sm.memberships SELECT * FROM public.lost; DROP TABLE public.lost`);
        await compareNow();
      };
    },
  },
  {
    alert: "CofferLogLinesLost",
    labels: { service: "scanner" },
    what: "the disk of scanner's log is full",
    begin: async (stage) => {
      const log = join(stage.directory, "log/scanner.log");
      await replace(stage, "scanner", () => {
        renameSync(log, `${log}.before`);
        symlinkSync("/dev/full", log);
      });
      // A network that fails for a moment is in the log. On a busy machine the new process connects late.
      const { nats } = stage.gates;
      const writing = cycle(async () => {
        nats.close();
        await pause(500);
        nats.open();
        await pause(4_000);
      });
      return async () => {
        await writing();
        await replace(stage, "scanner", () => rmSync(log));
      };
    },
  },
  {
    alert: "CofferRestoreDrillFailed",
    what: "an audit record was changed, and a drill restores it",
    begin: async (stage) => {
      const change = (from: string, to: string): Promise<unknown> =>
        stage.sql(`UPDATE siem_forwarder.audit_records SET record = replace(record::text, '${from}', '${to}')::json
          WHERE id = ${someRecord}`);
      await change('"success"', '"denied"');
      await drill(stage, 0);
      return async () => {
        await change('"denied"', '"success"');
        await drill(stage, 0);
      };
    },
  },
  {
    alert: "CofferRestoreDrillMissed",
    what: "the newest drill restored a backup that is ten days old",
    begin: async (stage) => {
      await drill(stage, 10);
      return () => drill(stage, 0);
    },
  },
  {
    alert: "CofferAuditPartitionsMissing",
    what: "the partitions of the coming months are removed",
    begin: async ({ sql }) => {
      await sql(`DO $$
        DECLARE
          coming text;
        BEGIN
          FOR coming IN
            SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'siem_forwarder.audit_records'::regclass
              AND inhrelid::regclass::text > 'siem_forwarder.audit_records_' || to_char(now(), 'YYYY_MM')
              AND inhrelid::regclass::text ~ '[0-9]$'
          LOOP
            EXECUTE format('DROP TABLE %s', coming);
          END LOOP;
        END $$`);
      return () =>
        sql(`DO $$ BEGIN
          WHILE siem_forwarder.add_audit_partition(now() + interval '3 months') LOOP END LOOP;
        END $$`);
    },
  },
];

import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type DeployedService, scanDocuments, type ServiceName } from "@coffer/events";
import { personClient } from "@coffer/sdk";
import {
  testDirectory,
  type TestNats,
  testNats,
  testPostgres,
  testRedis,
  type TestScope,
  until,
} from "@coffer/testkit";
import pg from "pg";
import type { RunState } from "../../../local/src/run-file.ts";
import { type Cli, newMachine, newPerson } from "../../../local/test/cli/cli-person.ts";
import { type Caller, configuredMachine, demand, personCaller, send } from "../../../local/test/faults/caller.ts";
import { bodyOf, newUid } from "../../../local/test/faults/secrets/workers.ts";
import { npmStart } from "../../../local/test/npm-start.ts";
import { newAccount, newDevice } from "../../../local/test/vault-people.ts";
import { type Gate, startGate } from "./gate.ts";

/** A running Coffer with its own stores and SIEM, and people who use it. */
export interface Stage {
  url: string;
  directory: string;
  /** The networks before the stores, and before Coffer itself for devices. */
  gates: Readonly<Record<"postgres" | "nats" | "redis" | "devices", Gate>>;
  state(): RunState;
  /** The URL of NATS, and of one where scanner may not subscribe to its requests. */
  nats: { url: string; withoutPermission: string };
  /** Sends a signal to a service. */
  signal(service: DeployedService, name: NodeJS.Signals): void;
  /** Runs statements as the superuser, past the gate. */
  sql(text: string): Promise<pg.QueryResult>;
  /** A connection of the superuser, past the gate. */
  connect(): Promise<pg.Client>;
  /** The owner of an organization. */
  person: Cli;
  orgId: string;
  /** Reads the secret of the organization once, as a machine; returns the status. */
  read(): Promise<number>;
  /** Reads the newest audit record, as the owner. */
  readAudit(): Promise<unknown>;
  siem: Siem;
}

/** A SIEM that takes records, refuses them, or does not answer. */
export interface Siem {
  url: string;
  behaves: "well" | "hangs" | "refuses";
}

export const stripeSecret = "whsec_of_the_alerts";
const devices = 40;
const paceMilliseconds = 100;

/** Starts everything. `onTargets` gets the management addresses of the services whenever they change. */
export async function startStage(
  t: TestScope,
  onTargets: (addresses: readonly string[]) => void,
  report: (line: string) => void,
): Promise<Stage> {
  const directory = testDirectory(t);
  const [postgres, nats, redis] = await Promise.all([testPostgres(t, { own: true }), testNats(t), testRedis(t)]);
  const withoutPermission = await testNats(t, { config: configWithoutPermission(nats) });
  const [postgresGate, natsGate, redisGate] = (await Promise.all(
    [postgres.url, nats.url, redis.url].map((url) => startGate(t, url)),
  )) as [Gate, Gate, Gate]; // one for each store
  report("starting Coffer");
  const coffer = npmStart(t, {
    directory,
    env: {
      COFFER_PROCESSES: "separate",
      COFFER_POSTGRES_URL: postgresGate.url,
      COFFER_NATS_URL: natsGate.url,
      COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
      COFFER_REDIS_URL: redisGate.url,
      COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
      COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8",
      COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecret,
      COFFER_STRIPE_PRICES: JSON.stringify({ price_enterprise: "enterprise" }),
      COFFER_LIMIT_STRICT: "10000",
      COFFER_LIMIT_USER: "100000",
      COFFER_LIMIT_SOCKETS_SESSION: "1000",
      COFFER_LIMIT_SOCKETS_USER: "1000",
      COFFER_ACCESS_TOKEN_SECONDS: "86400",
    },
  });
  const { url } = await coffer.ready;
  followTargets(t, coffer.state, onTargets);

  report("an organization, a machine and devices");
  const person = await newPerson(t, url, "owner@example.com");
  const { organizations } = JSON.parse(await person.data(["whoami", "--json"])) as { organizations: [{ id: string }] };
  const orgId = organizations[0].id;
  await person.data(["folder", "create", "production"]);
  const [folder] = JSON.parse(await person.data(["folder", "ls", "--json"])) as [{ id: string }];
  await person.data(["app", "create", "api"]);
  const machine = configuredMachine(await newMachine(person, "api", ["production:read"]), url, folder.id);
  const owner = personCaller(person, folder.id);
  const secret = await newSecret(url, owner);
  await person.data(
    ["dev", "stripe-event", "customer.subscription.created", "--org", orgId, "--price", "price_enterprise"],
    {
      env: { COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecret },
    },
  );
  const read = async (): Promise<number> => {
    const { status } = await send(url, { method: "GET", path: machine.secret(secret), bearer: machine.bearer() });
    return status;
  };
  const devicesGate = await startGate(t, url);
  await startDevices(t, url, devicesGate.url);
  repeat(t, () => read());

  const connectOwner = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: coffer.state().stores.postgres.replace(postgresGate.url, postgres.url),
    });
    client.on("error", () => undefined); // a mend may end it
    await client.connect();
    return client;
  };
  return {
    url,
    directory,
    gates: { postgres: postgresGate, nats: natsGate, redis: redisGate, devices: devicesGate },
    state: coffer.state,
    nats: { url: nats.url, withoutPermission: withoutPermission.url },
    signal(service, name) {
      process.kill(pidOf(coffer.state(), service), name);
    },
    connect: connectOwner,
    async sql(text) {
      const client = await connectOwner();
      try {
        return await client.query(text);
      } finally {
        await client.end();
      }
    },
    person,
    orgId,
    read,
    readAudit: () => send(url, { method: "GET", path: "/api/org/audit?limit=1", bearer: owner.bearer() }),
    siem: await startSiem(t),
  };
}

/** The process of a service. Throws while the service has none: 0 would be this process's own group. */
export function pidOf({ services }: RunState, service: DeployedService): number {
  const pid = services[service]?.pid;
  if (pid === undefined) throw new Error(`${service} does not run`);
  return pid;
}

/** The configuration of a NATS with the passwords of another, where scanner does not receive its requests. */
function configWithoutPermission({ credentials }: TestNats): string {
  const passwords = Object.fromEntries(
    Object.entries(credentials).map(([name, { password }]) => [name, password]),
  ) as Record<ServiceName, string>; // of the same names
  const users = natsUsers(passwords).map((user) =>
    user.user === "scanner"
      ? { ...user, subscribe: user.subscribe.filter((subject) => subject !== scanDocuments.subject) }
      : user,
  );
  return natsServerConfig({ users, host: "127.0.0.1", port: 4222 });
}

/** Reports the management addresses of the services, as their processes come and go. */
function followTargets(t: TestScope, state: () => RunState, onTargets: (addresses: readonly string[]) => void): void {
  let known = "";
  const timer = setInterval(() => {
    const addresses = Object.values(state().services).map(({ management_url }) => new URL(management_url).host);
    if (addresses.join() === known) return;
    known = addresses.join();
    onTargets(addresses);
  }, 200);
  t.teardown(() => clearInterval(timer));
}

async function newSecret(url: string, person: Caller): Promise<string> {
  const uid = newUid();
  const body = { ...bodyOf(uid, "czNjcmV0"), ...person.creates, uid, record_type: "note" };
  await demand(url, { method: "POST", path: person.list, body, bearer: person.bearer() });
  return uid;
}

/** Connects many devices of one person by way of a gate, and changes a record several times a second. */
async function startDevices(t: TestScope, url: string, gateUrl: string): Promise<void> {
  const session = await newAccount(url, "devices@example.com");
  const me = personClient(session, url, { attempts: 1 });
  const { id } = await me.vaults.create("changes", { type: "shared" });
  await Promise.all(Array.from({ length: devices }, () => newDevice(t, gateUrl, session)));
  repeat(t, () => me.records.create(id, { type: "login", fields: { password: "changed" } }));
}

/** Does something again and again, whatever becomes of it. */
function repeat(t: TestScope, work: () => Promise<unknown>): void {
  const ending = new AbortController();
  const goOn = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await work().catch(() => undefined);
      await pause(paceMilliseconds, undefined, { ref: false });
    }
  };
  void goOn();
  t.teardown(() => ending.abort());
}

async function startSiem(t: TestScope): Promise<Siem> {
  const siem: Siem = { url: "", behaves: "well" };
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (siem.behaves === "hangs") return;
      const refuses = siem.behaves === "refuses";
      response.writeHead(refuses ? 401 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(refuses ? { text: "Token disabled", code: 1 } : { text: "Success", code: 0 }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  siem.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // it listens on a TCP port
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return siem;
}

/** Waits until the plan permits it, and makes an endpoint at the SIEM. */
export async function newEndpoint({ person, siem }: Stage, name: string): Promise<void> {
  await until(
    "the plan has come",
    async () => {
      const create = ["siem", "create", "--format", "hec", "--to", siem.url, "--name", name];
      const { code, stderr } = await person.run(create, { input: JSON.stringify({ token: "token" }) });
      if (code !== 0 && !stderr.includes("plan")) throw new Error(stderr);
      return code === 0;
    },
    60,
  );
}

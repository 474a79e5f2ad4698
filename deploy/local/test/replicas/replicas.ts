import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { DeployedService } from "@coffer/events";
import { createMemoryLimits, type Refusals } from "@coffer/http";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { nodeFlags } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import { testDirectory, type TestScope, until } from "@coffer/testkit";
import { checkout as present } from "../../src/checkout.ts";
import { openFront, type Target } from "../../src/services/front.ts";
import { createProxy } from "../../src/services/proxy.ts";
import { environmentOf } from "../../src/services/service-environment.ts";
import { runOnce, type ServiceAddress, type ServiceRun } from "../../src/services/service-run.ts";
import { presentServices } from "../../src/services/services.ts";
import type { ReplicaStores } from "./stores.ts";

// Replicas of each service as processes behind one address. A test adds and removes them one by one, as
// a rolling upgrade or restart on Kubernetes does.

export interface ReplicaOptions {
  /** The checkout whose programs run. Default: this one. */
  checkout?: string;
  /** Default: every service but the console. */
  services?: readonly DeployedService[];
  /** What these replicas are given instead of the stores of the installation. */
  stores?: Partial<ReplicaStores>;
  /** Default: off. */
  billing?: "off" | "stripe";
  /** Further variables. */
  env?: Readonly<Record<string, string>>;
}

/** Replicas that were started together. */
export interface Generation {
  /** Takes them out of the rotation, then ends them in order. Returns how each ended: `code 0`. */
  remove(): Promise<string[]>;
}

export interface Replicas {
  readonly url: string;
  /** Adds a replica of each service; resolves when each is ready and receives requests. */
  add(options?: ReplicaOptions): Promise<Generation>;
  /**
   * Replaces the replicas of each service in turn, as a rolling restart does: the new one is ready before the
   * others go. Returns how those ended, if not with 0.
   */
  roll(options?: ReplicaOptions): Promise<string[]>;
  /**
   * Each request that no replica answered, or that one answered with 5xx, since the last call. A replica
   * answers 503 on a busy machine, and clients repeat: that does not count.
   */
  takeFailures(): string[];
}

interface Replica {
  service: DeployedService;
  run: ServiceRun;
  address: ServiceAddress;
}

const rows = presentServices({ console: "off" });
const siemKey = randomBytes(32).toString("base64url");
const drainSeconds = 2;
const readySeconds = 120;
const limits = { COFFER_LIMIT_STRICT: "100000", COFFER_LIMIT_STANDARD: "100000", COFFER_LIMIT_USER: "100000" };

/** Opens the address; it has no replicas yet. */
export async function openReplicas(t: TestScope, stores: ReplicaStores): Promise<Replicas> {
  const directory = testDirectory(t);
  const routerSecret = randomBytes(24).toString("base64url");
  const front = await openFront({ host: "127.0.0.1", port: 0, drainSeconds, rows, corsOrigins: () => [] });
  const rotation: Replica[] = [];
  const answerLimits = createMemoryLimits(createTelemetry({ service: "local" }));
  const failures: string[] = [];
  const runs = new Set<ServiceRun>();
  let generations = 0;
  t.teardown(async () => {
    await front.close();
    for (const run of runs) run.signal("SIGKILL");
    await Promise.all([...runs].map(({ ended }) => ended));
  });
  // The test is a proxy too: each request of the load has its own source address.
  const trustedProxies = parseTrustedProxies(["127.0.0.1/32"]);
  front.use(new Map(rows.map(({ name }) => [name, noting(failures, balanced(name))])), front.url);

  function balanced(service: DeployedService): Target {
    let turn = 0;
    const address = () => {
      const present = rotation.filter((each) => each.service === service);
      const chosen = present[(turn += 1) % present.length];
      if (chosen === undefined) return null;
      const { hostname, port } = new URL(chosen.address.url);
      return { host: hostname, port: Number(port) };
    };
    const refusals: Refusals = {
      ...front.refusals,
      request(request, response, error) {
        if (!response.closed) failures.push(`no replica of ${service} answered ${nameOf(request)}`);
        front.refusals.request(request, response, error);
      },
    };
    return createProxy({ address, trustedProxies, secret: routerSecret, refusals, answerLimits });
  }

  async function start(service: DeployedService, folder: string, options: ReplicaOptions): Promise<Replica> {
    const row = rows.find(({ name }) => name === service);
    if (row === undefined) throw new Error(`there is no service ${service}`);
    const environment = environmentOf(row, {
      env: { PATH: process.env["PATH"], ...limits, COFFER_DRAIN_SECONDS: String(drainSeconds), ...options.env },
      stores: { ...stores, ...options.stores },
      baseUrls: [front.url],
      billing: options.billing ?? "off",
      routerSecret,
      siemKey,
    });
    const program = join(options.checkout ?? present, "services", service, "src/main.ts");
    const run = runOnce({
      name: service,
      environment,
      dataDirectory: folder,
      report: () => undefined,
      command: [process.execPath, ...nodeFlags, program],
      readySeconds,
    });
    runs.add(run);
    void run.ended.then(() => runs.delete(run));
    const address = await run.ready;
    if (address === null) throw new Error(`${service} did not start: ${await run.ended}, see ${folder}`);
    await until(`${service} is ready`, () => isReady(address), readySeconds);
    return { service, run, address };
  }

  async function add(options: ReplicaOptions = {}): Promise<Generation> {
    generations += 1;
    const folder = join(directory, `generation-${generations}`);
    const { services = rows.map(({ name }) => name) } = options;
    const started = await Promise.all(services.map((service) => start(service, folder, options)));
    rotation.push(...started);
    return { remove: () => remove(started) };
  }

  function remove(started: readonly Replica[]): Promise<string[]> {
    for (const replica of started) rotation.splice(rotation.indexOf(replica), 1);
    return Promise.all(
      started.map(async ({ service, run }) => {
        run.signal("SIGTERM");
        return `${service}: ${await run.ended}`;
      }),
    );
  }

  return {
    url: front.url,
    add,
    async roll(options = {}) {
      const ended: string[] = [];
      for (const service of options.services ?? rows.map(({ name }) => name)) {
        const former = rotation.filter((each) => each.service === service);
        await add({ ...options, services: [service] });
        ended.push(...(await remove(former)));
      }
      return ended.filter((how) => !how.endsWith(": code 0"));
    },
    takeFailures: () => failures.splice(0),
  };
}

const nameOf = ({ method = "", url = "" }: IncomingMessage): string => `${method} ${url}`;

/** Notes the responses of 5xx that a client has awaited, but not 503. */
function noting(failures: string[], target: Target): Target {
  return {
    upgrade: (request, socket, head) => target.upgrade(request, socket, head),
    request(request: IncomingMessage, response: ServerResponse) {
      let gone = false;
      response.once("close", () => (gone = true));
      response.once("finish", () => {
        const { statusCode } = response;
        if (!gone && statusCode >= 500 && statusCode !== 503)
          failures.push(`${nameOf(request)} was answered ${statusCode}`);
      });
      target.request(request, response);
    },
  };
}

async function isReady({ managementUrl }: ServiceAddress): Promise<boolean> {
  try {
    const answer = await fetch(`${managementUrl}/readyz`);
    return ((await answer.json()) as { status: string }).status === "ready";
  } catch {
    return false;
  }
}

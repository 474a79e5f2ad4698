import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { currentBuild } from "@coffer/console-app/current";
import { type DeployedService, isOnBus } from "@coffer/events";
import { freePort, tiedToThisProcess } from "@coffer/stores";
import { type KubernetesObject, type PodTemplate, podTemplates } from "../../chart/src/kubernetes.ts";
import { nginx, nginxConfig } from "../../chart/src/nginx.ts";
import { render } from "../../chart/src/render.ts";
import { routesOf } from "../../chart/src/routes.ts";
import { type RunningPod, runPod, type Secrets } from "../../chart/src/run-pod.ts";
import type { Installation } from "../../local/src/data/installation.ts";
import { type LocalStores, startStores } from "../../local/src/data/local-stores.ts";
import { logFile } from "../../local/src/services/service-log.ts";
import { onBus, presentServices, type ServiceRow } from "../../local/src/services/services.ts";
import { readSettings } from "../../local/src/settings.ts";
import { StartupError } from "../../local/src/startup-error.ts";
import { removeClusterFile, writeClusterFile } from "./cluster-file.ts";
import { superviseProcess, type SupervisedProcess, type Life } from "./supervised-process.ts";
import type { Options } from "./options.ts";

export interface ClusterOptions extends Pick<Options, "replicas" | "values"> {
  port: number;
  /** Data and logs. */
  directory: string;
  installation: Installation;
  /** The folder that holds the files of the stores. */
  storesDirectory: string;
  report: (line: string) => void;
}

export interface RunningCluster {
  url: string;
  /** Stops replicas in order, then nginx and the stores. */
  close(): Promise<void>;
}

const readyMilliseconds = 120_000;

interface RunningReplica {
  service: DeployedService;
  supervised: SupervisedProcess;
  pod: () => RunningPod;
}

/**
 * Starts everything. Resolves when each replica is ready and nginx answers. After a failure, stops
 * everything and throws its error (StartupError, StoreError, or Error with Helm's message).
 */
export async function runCluster(options: ClusterOptions): Promise<RunningCluster> {
  const { directory, report } = options;
  const services = presentServices();
  const url = `http://127.0.0.1:${options.port}`;
  const ends: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    const [program, objects] = [await nginx(report), await renderObjects(services, url, options)];
    const stores = await startStores({
      settings: { ...readSettings({}), COFFER_PROCESSES: "separate" },
      directory: options.storesDirectory,
      installation: options.installation,
      report,
      onRestart: () => publish(),
    });
    ends.push(() => stores.stop());
    const secrets = secretsOf(services, stores, options.installation);
    const podOf = podsOf(objects, directory, secrets);

    report("bringing the schemas up to date");
    await Promise.all(services.filter(({ schema }) => schema !== null).map(({ name }) => migrate(podOf, name)));

    report(`starting ${options.replicas} replicas of ${services.map(({ name }) => name).join(", ")}`);
    const replicas = services.flatMap(({ name }) =>
      Array.from({ length: options.replicas }, (_, at) =>
        startReplica({ podOf, service: name, number: at + 1, report, onRestart: () => publish() }),
      ),
    );
    ends.push(async () => {
      await Promise.all(replicas.map(({ supervised, service }) => supervised.stop(graceOf(objects, service))));
    });
    await Promise.all(replicas.map(untilReady));

    const front = startFront({ ...options, program, objects, replicas, onRestart: () => publish() });
    // Before the replicas, so that a request in flight gets its response.
    ends.splice(-1, 0, () => front.stop(5));
    await untilAnswers(url);

    const publish = (): void =>
      writeClusterFile(directory, {
        url,
        pid: process.pid,
        nginx_pid: front.pid,
        replicas: replicas.map(({ service, supervised, pod }) => ({
          service,
          pid: supervised.pid,
          url: pod().url,
          management_url: pod().managementUrl,
        })),
        stores: stores.urls,
        store_pids: stores.pids(),
      });
    publish();
    ends.push(() => removeClusterFile(directory));
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The chart rendered for processes side by side, each at its own loopback address with two ports. */
async function renderObjects(
  services: readonly ServiceRow[],
  url: string,
  { directory, replicas, values, report }: ClusterOptions,
): Promise<KubernetesObject[]> {
  const built = await currentBuild(join(directory, "console"), report);
  const consoleEnv = [{ name: "COFFER_CONSOLE_DIR", value: built }];
  return render({
    directory,
    files: values,
    values: {
      baseUrls: [url],
      // nginx has a loopback address; a load generator uses X-Forwarded-For for many callers.
      trustedProxyCidrs: ["127.0.0.0/8"],
      services: Object.fromEntries(
        services.map(({ name }) => [
          name,
          isOnBus(name) ? { existingSecret: secretOf(name), replicas } : { extraEnv: consoleEnv, replicas },
        ]),
      ),
      ports: { public: await freePort(), management: await freePort() },
      gateway: { enabled: true, parentRefs: [{ name: "nginx" }], hostnames: [] },
    },
  });
}

const secretOf = (name: DeployedService): string => `coffer-${name}`;

/** The Secret of each service, with the addresses of the stores. */
function secretsOf(services: readonly ServiceRow[], stores: LocalStores, { siemKey }: Installation): Secrets {
  const stripe = process.env["COFFER_STRIPE_WEBHOOK_SECRETS"];
  return Object.fromEntries(
    onBus(services).map(({ name, schema }) => [
      secretOf(name),
      {
        COFFER_NATS_URL: stores.urls.nats,
        COFFER_NATS_CREDENTIALS: JSON.stringify({ [name]: stores.natsCredentials[name] }),
        COFFER_REDIS_URL: stores.redisUrls[name],
        ...(schema === null ? {} : { COFFER_POSTGRES_URL: stores.postgresUrls[schema] ?? "" }),
        ...(name === "siem-forwarder" ? { COFFER_SIEM_KEYS: siemKey } : {}),
        ...(name === "billing-webhook" && stripe !== undefined ? { COFFER_STRIPE_WEBHOOK_SECRETS: stripe } : {}),
      },
    ]),
  );
}

/** Makes the function that starts a pod of `owner`, with its own address and log. */
type PodOf = (owner: string, service: DeployedService, log: string) => () => RunningPod;

function podsOf(objects: readonly KubernetesObject[], directory: string, secrets: Secrets): PodOf {
  const network = `127.${1 + Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`;
  let addresses = 0;
  return (owner, service, log) => {
    const pod = templateOf(objects, owner);
    addresses += 1;
    const address = `${network}.${addresses}`;
    return () => runPod({ pod, service, address, secrets, logFile: logFile(directory, log) });
  };
}

function templateOf(objects: readonly KubernetesObject[], owner: string): PodTemplate {
  const pod = podTemplates(objects).find((each) => each.owner.metadata.name === owner);
  if (pod === undefined) throw new StartupError(`the chart renders no ${owner}`);
  return pod;
}

function graceOf(objects: readonly KubernetesObject[], service: DeployedService): number {
  return templateOf(objects, `coffer-${service}`).spec.terminationGracePeriodSeconds ?? 30;
}

async function migrate(podOf: PodOf, service: DeployedService): Promise<void> {
  const job = podOf(`coffer-migrate-${service}`, service, `migrate-${service}`)();
  if ((await job.exited) === 0) return;
  throw new StartupError(`the migration of ${service} failed: ${lastLine(job)}`);
}

interface ReplicaOptions {
  podOf: PodOf;
  service: DeployedService;
  number: number;
  report: (line: string) => void;
  onRestart: () => void;
}

function startReplica({ podOf, service, number, report, onRestart }: ReplicaOptions): RunningReplica {
  const name = `${service}-${number}`;
  const startPod = podOf(`coffer-${service}`, service, name);
  let pod: RunningPod;
  const start = (): Life => (pod = startPod());
  return { service, supervised: superviseProcess({ name, start, report, onRestart }), pod: () => pod };
}

async function untilReady({ pod, service }: RunningReplica): Promise<void> {
  const first = pod();
  const end = performance.now() + readyMilliseconds;
  const ended = first.exited.then(() => {
    throw new StartupError(`${service} ended at its start: ${lastLine(first)}`);
  });
  ended.catch(() => undefined); // It is restarted later.
  while ((await Promise.race([first.probe("readinessProbe"), ended])) !== 200) {
    if (performance.now() > end) throw new StartupError(`${service} is not ready: ${lastLine(first)}`);
    await pause(100);
  }
}

function lastLine(pod: RunningPod): string {
  return pod.log().trim().split("\n").at(-1) ?? "";
}

interface FrontOptions extends Pick<ClusterOptions, "port" | "directory" | "report"> {
  program: readonly string[];
  objects: readonly KubernetesObject[];
  replicas: readonly RunningReplica[];
  onRestart: () => void;
}

/** nginx with the rendered routes. It skips a replica that does not accept a connection. */
function startFront({
  program,
  port,
  directory,
  objects,
  replicas,
  report,
  onRestart,
}: FrontOptions): SupervisedProcess {
  const folder = join(directory, "log/nginx");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const endpoints: Record<string, string[]> = {};
  for (const { service, pod } of replicas) (endpoints[`coffer-${service}`] ??= []).push(new URL(pod().url).host);
  const file = join(folder, "nginx.conf");
  writeFileSync(file, nginxConfig({ port, routes: routesOf(objects), endpoints, directory: folder }));
  const [command = "", ...args] = tiedToThisProcess(
    [...program, "-e", join(folder, "start.log"), "-c", file],
    "SIGKILL",
  );
  const start = (): Life => {
    const child = spawn(command, args, { stdio: "ignore", detached: true });
    child.once("error", (error) => report(`nginx: ${error.message}`));
    return {
      pid: child.pid ?? 0,
      exited: once(child, "close").catch(() => undefined),
      signal: (name) => void child.kill(name),
    };
  };
  return superviseProcess({ name: "nginx", start, report, onRestart });
}

async function untilAnswers(url: string): Promise<void> {
  const end = performance.now() + readyMilliseconds;
  const answers = (): Promise<boolean> =>
    fetch(`${url}/.well-known/jwks.json`).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
  while (!(await answers())) {
    if (performance.now() > end) throw new StartupError(`nginx does not answer at ${url}`);
    await pause(100);
  }
}

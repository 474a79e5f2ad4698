import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { nodeFlags } from "@coffer/service";
import { tiedToThisProcess } from "@coffer/stores";
import type { Container, EnvironmentEntry, PodTemplate, Probe } from "./kubernetes.ts";
import { checkout } from "./paths.ts";

/** The values of Secrets, by their names and keys. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The environment of a container. Throws Error for a missing key of a Secret, as Kubernetes would. */
export function environmentOf({ env = [] }: Container, secrets: Secrets): Record<string, string> {
  return Object.fromEntries(env.map((entry) => [entry.name, valueOf(entry, secrets)]));
}

function valueOf({ name, value, valueFrom }: EnvironmentEntry, secrets: Secrets): string {
  if (valueFrom === undefined) return value ?? "";
  const { name: secret = "", key = "" } = valueFrom.secretKeyRef ?? {};
  const found = secrets[secret]?.[key];
  if (found === undefined) throw new Error(`${name}: there is no key ${key} in a Secret ${secret}`);
  return found;
}

export interface PodOptions {
  pod: PodTemplate;
  /** The service of the pod's image. */
  service: string;
  /** The pod's own address. */
  address: string;
  secrets: Secrets;
  /** Its output is appended to this file. Without one the output stays in memory. */
  logFile?: string;
}

export interface RunningPod {
  readonly pid: number;
  readonly address: string;
  /** The address of the public port. */
  readonly url: string;
  /** The address of the port for probes and metrics. */
  readonly managementUrl: string;
  /** All output. */
  log(): string;
  /** The status of a probe; null without a response. */
  probe(kind: "startupProbe" | "readinessProbe" | "livenessProbe"): Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** The exit code. */
  readonly exited: Promise<number | null>;
}

const probeMilliseconds = 3_000;

/**
 * Runs the container of a pod as its image would: in the service's folder, with only the pod's
 * environment.
 */
export function runPod({ pod, service, address, secrets, logFile }: PodOptions): RunningPod {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error("the pod has no container");
  const command = [...(container.command ?? ["node", ...nodeFlags, "src/main.ts"]), ...(container.args ?? [])];
  const [program = "", ...args] = tiedToThisProcess(command, "SIGKILL");
  const output = logFile === undefined ? "pipe" : openSync(logFile, "a", 0o600);
  const child = spawn(program, args, {
    cwd: resolve(checkout, "services", service),
    env: { ...imageEnvironment(address), ...environmentOf(container, secrets) },
    stdio: ["ignore", output, output],
    // A separate process group: Ctrl-C in the terminal reaches it only through this process.
    detached: true,
  });
  if (typeof output === "number") closeSync(output);
  const log = logFile === undefined ? collect(child) : () => readFileSync(logFile, "utf8");
  const portOf = (named: string | number | undefined): number => {
    const port = container.ports?.find(({ name, containerPort }) => name === named || containerPort === named);
    if (port === undefined) throw new Error(`the container has no port ${String(named)}`);
    return port.containerPort;
  };
  const urlOf = (port: string): string => (container.ports === undefined ? "" : `http://${address}:${portOf(port)}`);
  return {
    pid: child.pid ?? 0,
    address,
    url: urlOf("http"),
    managementUrl: urlOf("management"),
    log,
    probe: (kind) => answerTo(container[kind], address, portOf),
    signal: (name) => void child.kill(name),
    exited: once(child, "close").then(([code]) => code as number | null), // as Node documents the event
  };
}

/**
 * The image's variables (deploy/docker). The pod's address replaces all addresses, so that pods can
 * run side by side.
 */
function imageEnvironment(address: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", NODE_ENV: "production", COFFER_HOST: address };
}

function collect(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

async function answerTo(
  probe: Probe | undefined,
  address: string,
  portOf: (named: string | number) => number,
): Promise<number | null> {
  if (probe?.httpGet === undefined) throw new Error("the container has no such probe");
  const { path, port } = probe.httpGet;
  const signal = AbortSignal.timeout(probeMilliseconds);
  return fetch(`http://${address}:${portOf(port)}${path}`, { signal }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => null,
  );
}

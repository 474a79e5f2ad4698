import { spawn } from "node:child_process";
import { until } from "@coffer/testkit";

export const namespace = "coffer-test";
export const release = "coffer";

export interface RunOptions {
  /** Its stdin. */
  input?: string | undefined;
  /** Variables in addition to those of this process. */
  env?: Readonly<Record<string, string>>;
  /** The exit codes of success: 0. */
  codes?: readonly number[];
}

/** Runs a program to its end. Returns its stdout; throws an Error with its stderr if it fails. */
export async function run(
  program: string,
  args: readonly string[],
  { input = "", env = {}, codes = [0] }: RunOptions = {},
): Promise<string> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.err += chunk.toString()));
  // The exit code shows if a program ended before it had read everything.
  child.stdin.on("error", () => undefined).end(input);
  const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  if (code === null || !codes.includes(code))
    throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${text.err}${text.out}`);
  return text.out;
}

/** kubectl in the namespace of the test. */
export function kubectl(args: readonly string[], input?: string): Promise<string> {
  return run("kubectl", ["--namespace", namespace, ...args], { input });
}

export function helm(args: readonly string[]): Promise<string> {
  return run("helm", ["--namespace", namespace, ...args]);
}

/** Objects of a kind, with the used fields. */
export async function list<Item>(kind: string, selector = ""): Promise<Item[]> {
  const text = await kubectl(["get", kind, "--selector", selector, "--output", "json"]);
  return (JSON.parse(text) as { items: Item[] }).items;
}

export interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  status: {
    podIP?: string;
    containerStatuses?: { restartCount: number; ready: boolean; image: string }[];
  };
}

export const component = (name: string): string =>
  `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${name}`;

/** The pods of a service that are not terminating. */
export async function podsOf(name: string): Promise<Pod[]> {
  return (await list<Pod>("pods", component(name))).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Waits until a service has this many pods, all ready. */
export function replicas(name: string, count: number, seconds = 180): Promise<unknown> {
  const isReady = ({ status }: Pod): boolean =>
    status.containerStatuses?.length !== undefined && status.containerStatuses.every(({ ready }) => ready);
  return until(
    `${count} ready pods of ${name}`,
    async () => {
      const pods = await podsOf(name);
      return pods.length === count && pods.every(isReady);
    },
    seconds,
  );
}

/** The pods of the release with a restarted container. */
export async function restartedPods(): Promise<string[]> {
  const pods = await list<Pod>("pods", `app.kubernetes.io/instance=${release}`);
  return pods
    .filter(({ status }) => status.containerStatuses?.some(({ restartCount }) => restartCount > 0))
    .map(({ metadata }) => metadata.name);
}

interface Event {
  type: string;
  reason: string;
  message: string;
  lastTimestamp: string | null;
  involvedObject: { kind: string; name: string };
}

const refusals = new Set(["FailedCreate", "BackOff", "Failed", "OOMKilling", "InspectFailed"]);

/** What a busy API server says to a ReplicaSet, which asks again: not a refusal. */
const late = "request did not complete within requested timeout";

/** Events since a moment about a refused pod, or one that cannot run. */
export async function refusalEvents(since: Date): Promise<string[]> {
  return (await list<Event>("events"))
    .filter(({ type, reason }) => type === "Warning" && refusals.has(reason))
    .filter(({ message }) => !message.includes(late))
    .filter(({ lastTimestamp }) => lastTimestamp === null || new Date(lastTimestamp) > since)
    .map(({ reason, message, involvedObject: { kind, name } }) => `${reason} ${kind}/${name}: ${message}`);
}

/** Applies objects given as a list of maps. */
export function apply(...objects: object[]): Promise<string> {
  return kubectl(["apply", "--filename", "-"], listOf(objects));
}

/** Objects as one text for kubectl. */
export function listOf(objects: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
}

/**
 * Starts a Job of a CronJob and waits for its end. Returns the logs of its containers; throws an
 * Error with them.
 */
export async function runCronJob(cronJob: string, job: string, seconds = 600): Promise<string> {
  await kubectl(["create", "job", `--from=cronjob/${cronJob}`, job]);
  const read = async (path: string): Promise<string> =>
    (await kubectl(["get", "job", job, "--output", `jsonpath={${path}}`])).trim();
  const ended = await until(
    `the end of ${job}`,
    async () => /\b(Complete|Failed)\b/.exec(await read('.status.conditions[?(@.status=="True")].type'))?.[0],
    seconds,
  );
  const logs = await kubectl(["logs", `job/${job}`, "--all-containers"]);
  if (ended !== "Complete") throw new Error(`${job}: ${ended}\n${logs}`);
  return logs;
}

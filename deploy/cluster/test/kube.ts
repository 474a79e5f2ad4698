import { spawn } from "node:child_process";
import { until } from "@coffer/testkit";

export const namespace = "coffer-test";
export const release = "coffer";

/** Runs a program to its end. Returns its stdout; throws an Error with its stderr when it fails. */
export async function run(program: string, args: readonly string[], input = ""): Promise<string> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.err += chunk.toString()));
  // A program that ends before it has read everything says so by its exit code.
  child.stdin.on("error", () => undefined).end(input);
  const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${text.err}${text.out}`);
  return text.out;
}

/** kubectl in the namespace of the test. */
export function kubectl(args: readonly string[], input?: string): Promise<string> {
  return run("kubectl", ["--namespace", namespace, ...args], input);
}

export function helm(args: readonly string[]): Promise<string> {
  return run("helm", ["--namespace", namespace, ...args]);
}

/** Objects of a kind, with what is asked of them. */
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

/** The pods of a service that are not on their way out. */
export async function podsOf(name: string): Promise<Pod[]> {
  return (await list<Pod>("pods", component(name))).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Waits until a service has so many pods, all ready. */
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

/** Applies objects given as a list of maps. */
export function apply(...objects: object[]): Promise<string> {
  return kubectl(["apply", "--filename", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
}

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { freePort, type PostgresTools, startPostgresImage, tiedToThisProcess } from "@coffer/stores";
import { setTimeout as pause } from "node:timers/promises";
import { type Container, containersOf, type PodSpec } from "./kubernetes.ts";
import { checkout } from "./paths.ts";
import { environmentOf, type Secrets } from "./run-pod.ts";

export interface JobOptions {
  /** The command of the Job's pod. */
  spec: PodSpec;
  /** The name of the pod. */
  name: string;
  secrets: Secrets;
  /** The folder of each volume that must not be a fresh one, by the volume's name. */
  volumes: Readonly<Record<string, string>>;
  /** Where the other volumes are made. */
  directory: string;
  tools: PostgresTools;
  /** The file of each key of the ConfigMaps, by the name of its volume. */
  configMaps: Readonly<Record<string, string>>;
}

export interface JobOutcome {
  /** The exit code: that of the first container that failed. */
  code: number;
  /** The output of all containers. */
  log: string;
  /** The containers that were run, in order. */
  ran: string[];
}

/** Started containers that go on while the others run. */
const sidecar = "Always";
const probeMilliseconds = 50;

/**
 * Runs the containers of a Job's pod as Kubernetes does: those of the start one after the other,
 * sidecars until the end, then the others. Programs of Postgres are those of `tools`. A path of a
 * mount leads to its volume's folder, and a sidecar listens on a free port in place of 5432.
 */
export async function runJob(options: JobOptions): Promise<JobOutcome> {
  const { spec, tools, directory } = options;
  const port = await freePort();
  const outcome: JobOutcome = { code: 0, log: "", ran: [] };
  const sidecars: { stop(): Promise<void> }[] = [];
  try {
    for (const container of containersOf(spec)) {
      outcome.ran.push(container.name);
      const translate = (text: string): string => translated(text, container, options, port);
      const env = Object.fromEntries(
        Object.entries(environmentOf(withPodFields(container, options.name), options.secrets)).map(
          ([name, value]) => [name, translate(value)] as const,
        ),
      );
      const words = (list: readonly string[] = []): string[] =>
        list.map((word) => translate(word.replace(/\$\(([A-Z_]+)\)/g, (all, name: string) => env[name] ?? all)));
      if (container.restartPolicy === sidecar) {
        const folder = join(directory, container.name);
        const started = await startPostgresImage({ tools, directory: folder, env, args: words(container.args), port });
        sidecars.push(started);
        await untilStarted(words(container.startupProbe?.exec?.command), tools);
        continue;
      }
      const { code, text } = await run(
        [...words(container.command), ...words(container.args)],
        env,
        options,
        container,
      );
      outcome.log += text;
      if (code !== 0) return { ...outcome, code };
    }
    return outcome;
  } finally {
    for (const each of sidecars) await each.stop();
  }
}

function withPodFields(container: Container, name: string): Container {
  const env = (container.env ?? []).map((entry) =>
    entry.valueFrom?.fieldRef?.fieldPath === "metadata.name" ? { name: entry.name, value: name } : entry,
  );
  return { ...container, env };
}

/** A text in which the paths of the container's mounts are those of the folders. */
function translated(
  text: string,
  { volumeMounts = [] }: Container,
  { volumes, configMaps, directory }: JobOptions,
  port: number,
): string {
  const folders = new Map(
    volumeMounts.map(({ name, mountPath }) => [mountPath, configMaps[name] ?? volumes[name] ?? join(directory, name)]),
  );
  // The path alone, below it, or as the value of an option.
  return text
    .replace("127.0.0.1:5432", `127.0.0.1:${port}`)
    .replace(/(^|=)(\/[a-z]+)(?=\/|$)/, (all, before: string, path: string) => {
      const folder = folders.get(path);
      return folder === undefined ? all : before + folder;
    });
}

async function run(
  [program = "", ...args]: string[],
  env: Record<string, string>,
  { tools }: JobOptions,
  { image, name }: Container,
): Promise<{ code: number; text: string }> {
  // /<service>:<tag> of an image of ours.
  const service = /\/([^/:@]+)[:@][^/]*$/.exec(image)?.[1] ?? "";
  const isNode = program === "node";
  const command = isNode ? process.execPath : join(tools.folder, program);
  const [tied = "", ...rest] = tiedToThisProcess([command, ...args], "SIGKILL");
  const child = spawn(tied, rest, {
    cwd: isNode ? resolve(checkout, "services", service) : "/",
    env: { PATH: process.env["PATH"] ?? "", ...(isNode ? {} : tools.env), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (text += `${name}: ${chunk.toString()}`));
  const [code] = (await once(child, "close")) as [number | null]; // as Node documents the event
  return { code: code ?? 1, text };
}

async function untilStarted([program = "", ...args]: string[], tools: PostgresTools): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const { status, stderr } = spawnSync(join(tools.folder, program), args, {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", ...tools.env },
    });
    if (status === 0) return;
    if (performance.now() > end) throw new Error(`the sidecar did not start: ${stderr}`);
    await pause(probeMilliseconds);
  }
}

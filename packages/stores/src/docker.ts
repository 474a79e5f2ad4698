import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { onPath } from "./on-path.ts";
import { serverUser } from "./server-user.ts";

const images = { "nats-server": "nats:2.12-alpine", "redis-server": "redis:8-alpine" } as const;

/** The major version of Redis in its image. */
export const imageVersion = 8;

/** Placeholders in a command line that are filled in at the start. */
const marks = { name: "{name}", directory: "{directory}", port: "{port}" } as const;

/**
 * The command line that runs a server in a container; null without a Docker daemon that answers. The
 * container sees the store's directory under the same path and publishes the port on 127.0.0.1 only.
 */
export function dockerCommand(program: keyof typeof images): string[] | null {
  const docker = onPath("docker");
  if (docker === null) return null;
  if (spawnSync(docker, ["info"], { stdio: "ignore", timeout: 10_000 }).status !== 0) return null;
  const { getuid, getgid } = process;
  const { uid, gid } = serverUser() ?? { uid: getuid?.(), gid: getgid?.() };
  const user = uid === undefined || gid === undefined ? [] : [`--user=${uid}:${gid}`];
  return [
    docker,
    "run",
    "--rm",
    "--init",
    `--name=${marks.name}`,
    ...user,
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    `--volume=${marks.directory}:${marks.directory}`,
    `--workdir=${marks.directory}`,
    `--publish=127.0.0.1:${marks.port}:${marks.port}`,
    images[program],
    program,
  ];
}

/** Whether a command line runs a container. */
export function isDocker(command: readonly string[]): boolean {
  return command.includes(`--name=${marks.name}`);
}

/** The command line for a store that works in `directory` and listens on `port`. */
export function filled(command: readonly string[], directory: string, port: number): string[] {
  return command.map((part) =>
    part
      .replaceAll(marks.name, containerOf(directory))
      .replaceAll(marks.directory, directory)
      .replaceAll(marks.port, String(port)),
  );
}

/** Kills the container that works in a store's directory, if there is one. */
export function endContainer([docker = ""]: readonly string[], directory: string): void {
  spawnSync(docker, ["rm", "--force", containerOf(directory)], { stdio: "ignore", timeout: 30_000 });
}

function containerOf(directory: string): string {
  return `coffer-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`;
}

import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { onPath } from "./on-path.ts";

const images = { "nats-server": "nats:2.12-alpine", "redis-server": "redis:8-alpine" } as const;

/** Marks in a command line that the start fills in. */
export const marks = { directory: "{directory}", port: "{port}" } as const;

/**
 * The command line that runs a server in a container, or `null` when there is no Docker daemon that answers.
 * The container sees the store's directory under the same path and publishes the port on 127.0.0.1 only.
 */
export function dockerCommand(program: "nats-server" | "redis-server"): string[] | null {
  const docker = onPath("docker");
  if (docker === null) return null;
  if (spawnSync(docker, ["info"], { stdio: "ignore", timeout: 10_000 }).status !== 0) return null;
  const user =
    process.getuid === undefined ? [] : ["--user", `${String(process.getuid())}:${String(process.getgid?.())}`];
  return [
    docker,
    "run",
    "--rm",
    "--init",
    `--name=coffer-${program}-${randomBytes(6).toString("hex")}`,
    ...user,
    "--volume",
    `${marks.directory}:${marks.directory}`,
    "--publish",
    `127.0.0.1:${marks.port}:${marks.port}`,
    images[program],
    program,
  ];
}

/** Whether a command line runs a container. */
export function isDocker(command: string[]): boolean {
  return command[1] === "run" && command[2] === "--rm";
}

/** The name of the container that a command line of `dockerCommand` runs. */
export function dockerName(command: string[]): string {
  return command.find((part) => part.startsWith("--name="))?.slice("--name=".length) ?? "";
}

/** Ends a container at once. */
export function removeContainer(name: string): void {
  try {
    execFileSync("docker", ["rm", "--force", name], { stdio: "ignore", timeout: 10_000 });
  } catch {
    // It is gone already.
  }
}

/** The command line with the store's directory and port in it. */
export function filled(command: string[], directory: string, port: number): string[] {
  return command.map((part) => part.replaceAll(marks.directory, directory).replaceAll(marks.port, String(port)));
}

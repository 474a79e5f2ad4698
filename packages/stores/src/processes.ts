import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { serversListed } from "./servers-listed.ts";

const programs = new Set(["postgres", "nats-server", "redis-server", "valkey-server"]);

/** Whether a process with this id exists. A zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return stateOf(pid) !== "Z";
}

/**
 * The start time of the process in the system's own notation, or null without it. Together with the id
 * it identifies a process: ids are reused.
 */
export function startOf(pid: number): string | null {
  if (process.platform === "linux") return statusFields(pid)?.[19] ?? null;
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || null;
  } catch {
    return null;
  }
}

/** The ids of the servers that work in `directory` or below it. */
export function serversIn(directory: string): number[] {
  const found = process.platform === "linux" ? fromProc(directory) : serversListed(directory, programs);
  return found.filter((pid) => pid !== process.pid && isAlive(pid));
}

/** Ends every server that works in `directory` or below it. Resolves when they have ended. */
export async function endServersIn(directory: string): Promise<void> {
  for (;;) {
    const left = serversIn(directory);
    if (left.length === 0) return;
    for (const pid of left) signal(pid, "SIGKILL");
    await pause(10);
  }
}

/** Sends a signal; ignores a process that has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function stateOf(pid: number): string | undefined {
  return process.platform === "linux" ? statusFields(pid)?.[0] : undefined;
}

/** The fields of /proc/<pid>/stat after the name: state is the first, the start time the twentieth. */
function statusFields(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

function fromProc(directory: string): number[] {
  const found: number[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (!programs.has(readFileSync(`/proc/${entry}/comm`, "utf8").trim())) continue;
      const where = readlinkSync(`/proc/${entry}/cwd`);
      if (where === directory || where.startsWith(`${directory}/`)) found.push(Number(entry));
    } catch {
      // Another user's process, or one that has just ended.
    }
  }
  return found;
}

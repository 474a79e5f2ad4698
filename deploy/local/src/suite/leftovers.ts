import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive, serversIn } from "@coffer/stores";

export interface Leftover {
  pid: number;
  command: string;
}

const patienceMilliseconds = 20_000;

/**
 * The processes that a run of the tests left behind: those with `variable=directory` in their
 * environment, and servers that work below the directory. Waits up to 20 s by default for ending ones.
 */
export async function leftovers(
  variable: string,
  directory: string,
  milliseconds = patienceMilliseconds,
): Promise<Leftover[]> {
  const until = performance.now() + milliseconds;
  for (;;) {
    const pids = new Set([...markedWith(`${variable}=${directory}`), ...serversIn(directory)]);
    const left = [...pids].filter(isAlive).map((pid) => ({ pid, command: commandOf(pid) }));
    if (left.length === 0 || performance.now() > until) return left;
    await pause(50);
  }
}

function markedWith(entry: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => read(`/proc/${name}/environ`).split("\0").includes(entry))
    .map(Number);
}

function commandOf(pid: number): string {
  return read(`/proc/${String(pid)}/cmdline`)
    .split("\0")
    .join(" ")
    .trim();
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // Ended meanwhile, or another user's.
  }
}

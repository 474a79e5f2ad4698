import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks of /proc/<pid>/stat per second: USER_HZ, which Linux fixes at 100 for programs. */
const ticksPerSecond = 100;

/**
 * CPU seconds (user and system) of these processes and their descendants so far, including ended ones
 * whose parent is still running.
 */
export function cpuSeconds(pids: readonly number[]): number {
  const processes = readProcesses();
  const wanted = new Set(pids);
  // A child is almost always listed after its parent; two passes cover the rest.
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent } of processes) {
      if (wanted.has(parent) && !wanted.has(pid)) {
        wanted.add(pid);
        grown = true;
      }
    }
  }
  const ticks = processes.filter(({ pid }) => wanted.has(pid)).reduce((sum, { used }) => sum + used, 0);
  return ticks / ticksPerSecond;
}

/** Resident memory of one process in MiB. */
export function residentMebibytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1024;
}

function readProcesses(): { pid: number; parent: number; used: number }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // The command, in parentheses, may have spaces: fields are counted after it.
        const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
        const [, parent, , , , , , , , , , user, system, childUser, childSystem] = fields.map(Number);
        const used = (user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0);
        return [{ pid: Number(name), parent: parent ?? 0, used }];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}

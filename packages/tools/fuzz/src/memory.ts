/** Reads the memory of a process from its management port. */
export interface MemoryWatch {
  sample(): Promise<void>;
  /**
   * In MiB: the lowest heap in use in an early and in the last part of the run, and the final
   * resident size.
   */
  report(): { early: number; late: number; resident: number };
}

const mebibyte = 1024 * 1024;

/** Watches the process behind a management address. */
export function watchMemory(managementUrl: string): MemoryWatch {
  const heap: number[] = [];
  let resident = 0;
  return {
    async sample() {
      const response = await fetch(`${managementUrl}/metrics`, { signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      heap.push(valueOf(text, "nodejs_heap_size_used_bytes") + valueOf(text, "nodejs_external_memory_bytes"));
      resident = valueOf(text, "process_resident_memory_bytes");
    },
    report() {
      // The first eighth warms up: compiled code, caches.
      const lowest = (from: number, to: number): number =>
        Math.min(...heap.slice(Math.floor(heap.length * from), Math.max(1, Math.ceil(heap.length * to)))) / mebibyte;
      return { early: lowest(1 / 8, 3 / 8), late: lowest(3 / 4, 1), resident: resident / mebibyte };
    },
  };
}

function valueOf(metrics: string, name: string): number {
  const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "m").exec(metrics)?.[1];
  if (value === undefined) throw new Error(`the metrics have no ${name}`);
  return Number(value);
}

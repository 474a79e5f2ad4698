/** The progress of a scan, in one line of the terminal that is written over. */
export interface Progress {
  add(bytes: number): void;
  end(): void;
}

const firstAfter = 1_000;
const every = 200;

/** Shows nothing unless stderr is a terminal, and nothing of a scan that ends within a second. */
export function startProgress(): Progress {
  if (!process.stderr.isTTY) return { add: () => undefined, end: () => undefined };
  const began = performance.now();
  let [inputs, total, last, wasShown] = [0, 0, began + firstAfter - every, false];
  return {
    add(bytes) {
      inputs += 1;
      total += bytes;
      const now = performance.now();
      if (now - last < every) return;
      last = now;
      wasShown = true;
      process.stderr.write(`\r\u001b[Kscanning: ${inputs} inputs, ${(total / 1e6).toFixed(1)} MB`);
    },
    end() {
      if (wasShown) process.stderr.write("\r\u001b[K");
    },
  };
}

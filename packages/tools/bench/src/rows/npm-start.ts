import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { absoluteFigure, type Figure, type Row } from "../row.ts";

const checkout = resolve(import.meta.dirname, "../../../../..");

/**
 * `npm start` with installed modules: with a new data directory, and with that directory again.
 */
export const npmStart: Row = {
  name: "npm-start",
  async run(): Promise<Figure[]> {
    const directory = mkdtempSync(join(tmpdir(), "coffer-bench-start-"));
    try {
      const cold = await secondsToReady(directory);
      const warm = await secondsToReady(directory);
      return [
        absoluteFigure("npm start: new data directory", "s", cold, 90),
        absoluteFigure("npm start: warm", "s", warm, 5),
      ];
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** From the command to its ready line; then it is stopped. */
async function secondsToReady(directory: string): Promise<number> {
  const started = performance.now();
  const child = spawn("npm", ["start", "--silent"], {
    cwd: checkout,
    env: { ...process.env, COFFER_DATA_DIR: directory, COFFER_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const ready = once(child.stdout, "data").then(() => (performance.now() - started) / 1000);
  const failed = ended.then(() => {
    throw new Error("npm start ended before it was ready");
  });
  try {
    return await Promise.race([ready, failed]);
  } finally {
    failed.catch(() => undefined);
    child.kill("SIGTERM");
    await ended;
  }
}

import { getAsset, isSea } from "node:sea";
import { Worker } from "node:worker_threads";
import type { WorkerSettings } from "./worker-data.ts";

/** The asset of an executable that has the thread's code. */
const workerAsset = "scan-worker.js";

/** Starts a thread of `scan-worker.ts`: a file beside this one, or an asset of the executable. */
export function startWorker(workerData: WorkerSettings): Worker {
  if (isSea()) return new Worker(getAsset(workerAsset, "utf8"), { eval: true, workerData });
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf("."));
  return new Worker(new URL(`./scan-worker${extension}`, import.meta.url), { workerData });
}

// In place of the pool's thread: ends each scan, without a look at it, once the test says so.
import { BroadcastChannel, parentPort } from "node:worker_threads";

let released = false;
let held = 0;
const channel = new BroadcastChannel("scans");
channel.onmessage = () => {
  released = true;
  for (; held > 0; held -= 1) parentPort?.postMessage("done");
  channel.close();
};
parentPort?.on("message", () => {
  if (released) parentPort?.postMessage("done");
  else held += 1;
});
parentPort?.postMessage("ready");

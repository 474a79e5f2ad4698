// Restarts the server of `npm start` when it ends unexpectedly. Plain JavaScript for Node from 20
// on, as the launcher.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";

// A server that served this long before it ended has not failed to start: the count of failures begins again.
const quickMilliseconds = 60_000;
const mostRestarts = 5;
const firstPauseMilliseconds = 250;

/**
 * Runs the server and restarts it with growing pauses when it ends after it was ready. Gives up after five
 * quick restarts and removes the run file. Resolves with `exitCode` and `signal` once the server ends on
 * purpose, fails to start for the first time, or is given up.
 * @param start spawns the server: `start(serving)`; `serving` is the last report of the server, or null
 * @param signalled whether a signal to stop has been passed on
 */
export async function superviseServer(start, signalled) {
  let serving = null;
  for (let failures = 0; ;) {
    const child = start(serving);
    let readyAt = null;
    child.on("message", (message) => {
      // Other programs that are started here send messages of their own, such as tap.
      if (typeof message?.runFile !== "string") return;
      readyAt = Date.now();
      serving = message;
    });
    const [code, signal] = await once(child, "exit");
    const end = { exitCode: code ?? 128 + constants.signals[signal], signal };
    if (serving === null || code === 0) return end;
    // A server that was killed during its stop has left its run file.
    if (signalled()) return removeRunFile(serving, end);
    if (readyAt !== null && Date.now() - readyAt >= quickMilliseconds) failures = 0;
    failures += 1;
    const how = signal ?? `exit code ${code}`;
    if (failures > mostRestarts) {
      report(`the server is gone (${how}); giving up after ${mostRestarts} restarts`);
      return removeRunFile(serving, end);
    }
    report(`the server is gone (${how}); starting it again`);
    await pause(firstPauseMilliseconds * 2 ** (failures - 1), signalled);
    if (signalled()) return removeRunFile(serving, { exitCode: 0, signal: null });
  }
}

function report(line) {
  process.stderr.write(`coffer: ${line}\n`);
}

function removeRunFile({ runFile }, end) {
  rmSync(runFile, { force: true });
  return end;
}

/** Waits for the time, or until a signal to stop arrives. */
function pause(milliseconds, signalled) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, done);
    if (signalled()) done();
  });
}

import { readFileSync } from "node:fs";
import { constants } from "node:os";

const passed = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT"];
const fromTerminal = new Set(["SIGINT", "SIGQUIT", "SIGWINCH"]);

/**
 * Sends the signals that this process gets on to a child, until the returned function is called. To be called before
 * the child is started, which may be heard of before its start has returned. A terminal's Ctrl-C, Ctrl-\ and new size
 * reach the child by themselves, since they go to the whole foreground group: passing those on too would make them two.
 *
 * @param {() => import("node:child_process").ChildProcess} child
 * @returns {() => void}
 */
export function passSignals(child) {
  const listeners = passed.map((signal) => {
    const listener = () => {
      if (!(fromTerminal.has(signal) && inForeground())) child().kill(/** @type {NodeJS.Signals} */ (signal));
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const stop of listeners) stop();
  };
}

/**
 * The exit code by which a shell reports a process: its own, or 128 and the number of the signal that ended it.
 *
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 * @returns {number}
 */
export function exitCodeOf(code, signal) {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** Whether this process is in the foreground group of its terminal. */
function inForeground() {
  try {
    // After the command's name in parentheses: state, parent, group, session, terminal, foreground group.
    const status = readFileSync("/proc/self/stat", "latin1");
    const [, , group, , , foreground] = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}

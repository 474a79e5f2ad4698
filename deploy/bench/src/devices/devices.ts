import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Devices to be connected: each with the next of the tokens and an address of its own. */
export interface OpenPlan {
  url: string;
  tokens: readonly string[];
  count: number;
  /** How many are on their way at a time. */
  atATime: number;
  /** What each asks at once: everything that it sees, what changed since a moment, or nothing. */
  sync: "everything" | { since: string } | null;
}

/** How it went. */
export interface Opened {
  /** Until the last was connected and had its answer. */
  milliseconds: number;
  /** Answers that refused a connection, and connections closed before their answer: each was tried again. */
  refused: number;
  /** Connections that the network did not make: each was tried again. */
  failed: number;
  /** The `server_time` of the last answer. */
  serverTime: string;
}

/** The answer to one sync. */
export interface Synced {
  milliseconds: number;
  bytes: number;
  changes: number;
  serverTime: string;
}

/** When frames arrived at devices, in milliseconds since the Unix epoch. */
export interface Arrivals {
  /** Of each device its first, the earliest first. */
  at: number[];
}

/** What the process of the devices is asked, and what it answers. */
export interface Commands {
  open: { ask: OpenPlan; answer: Opened };
  /** One of the devices that are open asks, by its place. */
  sync: { ask: { device: number; since: string | null }; answer: Synced };
  /** From now on the next frame of each device is waited for. */
  arm: { ask: null; answer: null };
  arrivals: { ask: { count: number }; answer: Arrivals };
  /** Sends as a device of the bare server does, and waits for what comes back. */
  bare: { ask: { url: string }; answer: Synced };
  close: { ask: null; answer: null };
}

/** Devices in a process of their own, so that their work is not counted as the servers'. */
export interface Devices {
  ask<Name extends keyof Commands>(name: Name, ask: Commands[Name]["ask"]): Promise<Commands[Name]["answer"]>;
  end(): void;
}

/** Starts the process of the devices. One question at a time. */
export function startDevices(): Devices {
  const child = fork(fileURLToPath(new URL("./devices-process.ts", import.meta.url)), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    ask: (name, ask) =>
      new Promise((resolve, reject) => {
        const ended = (): void => reject(new Error("the process of the devices ended"));
        child.once("exit", ended);
        child.once("message", (message) => {
          child.off("exit", ended);
          const { answer, error } = message as { answer: Commands[typeof name]["answer"]; error?: string }; // nothing else is sent
          if (error === undefined) resolve(answer);
          else reject(new Error(error));
        });
        child.send({ name, ask });
      }),
    end: () => child.kill(),
  };
}

/** Milliseconds since the Unix epoch, the same in every process of the machine, finer than the clock's. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The present moment by the service's own reckoning: what a device that has just synced continues from. */
export async function presentMoment(devices: Devices, { url, token }: { url: string; token: string }): Promise<string> {
  const { serverTime } = await devices.ask("open", { url, tokens: [token], count: 1, atATime: 1, sync: "everything" });
  await devices.ask("close", null);
  return serverTime;
}

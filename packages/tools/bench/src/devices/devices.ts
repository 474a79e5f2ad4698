import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A plan of connections: each with the next of the tokens and its own address. */
export interface OpenPlan {
  url: string;
  tokens: readonly string[];
  count: number;
  /** How many connect concurrently. */
  atATime: number;
  /** The first sync of each: everything, the changes since a moment, or nothing. */
  sync: "everything" | { since: string } | null;
}

/** The result. */
export interface Opened {
  /** Until the last device was connected and had its response. */
  milliseconds: number;
  /** Refused connections, and connections closed before their response: each was retried. */
  refused: number;
  /** Failed connections: each was retried. */
  failed: number;
  /** The `server_time` of the last response. */
  serverTime: string;
}

/** The response to one sync. */
export interface Synced {
  milliseconds: number;
  bytes: number;
  changes: number;
  serverTime: string;
}

/** The arrival times of frames, in milliseconds since the Unix epoch. */
export interface Arrivals {
  /** The first of each device, sorted. */
  at: number[];
}

/** The commands of the process of the devices, with input and answer. */
export interface Commands {
  open: { input: OpenPlan; answer: Opened };
  /** Syncs one of the open devices, by its index. */
  sync: { input: { device: number; since: string | null }; answer: Synced };
  /** Waits for the next frame of each device from now on. */
  arm: { input: null; answer: null };
  arrivals: { input: { count: number }; answer: Arrivals };
  /** Sends as a device of the bare server does, and waits for the response. */
  bare: { input: { url: string }; answer: Synced };
  close: { input: null; answer: null };
}

/** Devices in their own process, so that their work is not counted as the servers'. */
export interface Devices {
  request<Name extends keyof Commands>(name: Name, input: Commands[Name]["input"]): Promise<Commands[Name]["answer"]>;
  end(): void;
}

/** Starts the process of the devices. One command at a time. */
export function startDevices(): Devices {
  const child = fork(fileURLToPath(new URL("./devices-process.ts", import.meta.url)), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    request: (name, input) =>
      new Promise((resolve, reject) => {
        const ended = (): void => reject(new Error("the process of the devices ended"));
        child.once("exit", ended);
        child.once("message", (message) => {
          child.off("exit", ended);
          const { answer, error } = message as { answer: Commands[typeof name]["answer"]; error?: string }; // nothing else is sent
          if (error === undefined) resolve(answer);
          else reject(new Error(error));
        });
        child.send({ name, input });
      }),
    end: () => child.kill(),
  };
}

/** Milliseconds since the Unix epoch, equal in every process of the machine, finer than the clock's. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The present moment of the service, from which a device that has just synced continues. */
export async function presentMoment(devices: Devices, { url, token }: { url: string; token: string }): Promise<string> {
  const { serverTime } = await devices.request("open", {
    url,
    tokens: [token],
    count: 1,
    atATime: 1,
    sync: "everything",
  });
  await devices.request("close", null);
  return serverTime;
}

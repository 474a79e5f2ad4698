import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { type Arrivals, type Commands, type Opened, type OpenPlan, preciseNow, type Synced } from "./devices.ts";

// The child process of devices.ts.

interface Device {
  socket: WebSocket;
  /** Receives the next message. */
  onMessage: ((data: Buffer) => void) | undefined;
}

const longestBackoff = 30_000;

/** The server refused the connection. */
class Refusal extends Error {}

let devices: Device[] = [];
let arrivals: number[] = [];
let addresses = 0;

const handlers: { [Name in keyof Commands]: (input: Commands[Name]["input"]) => Promise<Commands[Name]["answer"]> } = {
  open,
  sync: ({ device, since }) => request(devices[device], { type: "sync_request", ...(since && { last_sync: since }) }),
  arm: () => {
    arrivals = [];
    for (const device of devices)
      device.onMessage = () => {
        arrivals.push(preciseNow());
        device.onMessage = undefined;
      };
    return Promise.resolve(null);
  },
  arrivals: async ({ count }): Promise<Arrivals> => {
    for (const until = performance.now() + 30_000; arrivals.length < count && performance.now() < until;)
      await pause(2);
    if (arrivals.length < count) throw new Error(`${arrivals.length} of ${count} devices received`);
    return { at: arrivals };
  },
  bare: async ({ url }) => {
    const device = await connect(url, {});
    devices.push(device);
    return request(device, {});
  },
  close: () => {
    for (const { socket } of devices) socket.terminate();
    devices = [];
    return Promise.resolve(null);
  },
};

process.on("message", (message) => {
  const { name, input } = message as { name: keyof Commands; input: never }; // devices.ts sends nothing else
  handlers[name](input).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function open({ url, tokens, count, atATime, sync }: OpenPlan): Promise<Opened> {
  const started = performance.now();
  const waiting = Array.from({ length: count }, (_, n) => tokens[n % tokens.length] ?? "");
  let [refused, failed] = [0, 0];
  let serverTime = "";

  const one = async (token: string): Promise<void> => {
    // As the specification recommends (6.1, rule 6).
    for (let backoff = 1_000; ; backoff = Math.min(2 * backoff, longestBackoff)) {
      try {
        const device = await connect(url, { token });
        if (sync !== null) {
          const since = sync === "everything" ? {} : { last_sync: sync.since };
          ({ serverTime } = await request(device, { type: "sync_request", ...since }));
        }
        devices.push(device);
        return;
      } catch (error) {
        if (error instanceof Refusal) refused += 1;
        else failed += 1;
        await pause(backoff);
      }
    }
  };
  const worker = async (): Promise<void> => {
    for (let token = waiting.pop(); token !== undefined; token = waiting.pop()) await one(token);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return { milliseconds: performance.now() - started, refused, failed, serverTime };
}

function connect(url: string, { token }: { token?: string }): Promise<Device> {
  const query = token === undefined ? "" : `/api/sync/ws?token=${token}`;
  addresses += 1;
  const address = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}${query}`, {
    perMessageDeflate: false,
    headers: { "x-forwarded-for": address },
    maxPayload: 1024 ** 3,
  });
  const device: Device = { socket, onMessage: undefined };
  socket.on("message", (data: Buffer) => device.onMessage?.(data));
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      socket.removeAllListeners("error").on("error", () => undefined);
      resolve(device);
    });
    socket.once("error", reject);
    socket.once("unexpected-response", (request, { statusCode }) => {
      request.destroy();
      reject(new Refusal(`answered ${statusCode}`));
    });
  });
}

/** Sends a message and waits for the next one. */
function request(device: Device | undefined, message: object): Promise<Synced> {
  if (device === undefined) throw new Error("there is no such device");
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const closed = (code: number): void => reject(new Refusal(`closed with ${code}`));
    device.socket.once("close", closed);
    device.onMessage = (data) => {
      const milliseconds = performance.now() - started;
      device.socket.off("close", closed);
      device.onMessage = undefined;
      const { changes = [], server_time: serverTime = "" } = JSON.parse(data.toString("utf8")) as {
        changes?: unknown[];
        server_time?: string;
      }; // the fields that matter here
      resolve({ milliseconds, bytes: data.length, changes: changes.length, serverTime });
    };
    device.socket.send(JSON.stringify(message));
  });
}

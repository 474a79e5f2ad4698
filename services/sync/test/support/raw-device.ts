import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { type TestScope, until } from "@coffer/testkit";

/** One frame as it was on the wire (RFC 6455 §5.2). */
export interface Frame {
  fin: boolean;
  opcode: number;
  payload: Buffer;
}

/** A device that sees frames, not messages, and can stop reading. */
export interface RawDevice {
  socket: Socket;
  frames: Frame[];
  /** Sends a text message. */
  send(message: object): void;
  pong(): void;
  closed(): Promise<void>;
}

/** Connects without a WebSocket library. */
export async function connectRaw(t: TestScope, url: string, token: string): Promise<RawDevice> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  const frames: Frame[] = [];
  let buffered = Buffer.alloc(0);
  let upgraded = false;
  let closed = false;
  socket.on("error", () => undefined);
  socket.on("close", () => (closed = true));
  socket.on("data", (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    if (!upgraded) {
      const end = buffered.indexOf("\r\n\r\n");
      if (end === -1) return;
      upgraded = true;
      buffered = buffered.subarray(end + 4);
    }
    for (let frame = readFrame(buffered); frame !== undefined; frame = readFrame(buffered)) {
      buffered = buffered.subarray(frame.length);
      frames.push(frame);
    }
  });
  const key = randomBytes(16).toString("base64");
  const head = [`GET /api/sync/ws?token=${token} HTTP/1.1`, "Host: x", "Connection: Upgrade", "Upgrade: websocket"];
  socket.write([...head, "Sec-WebSocket-Version: 13", `Sec-WebSocket-Key: ${key}`, "", ""].join("\r\n"));
  await until("it is upgraded", () => upgraded);
  return {
    socket,
    frames,
    send: (message) => socket.write(masked(1, Buffer.from(JSON.stringify(message)))),
    pong: () => socket.write(masked(10, Buffer.alloc(0))),
    closed: async () => {
      await until("it is closed", () => closed);
    },
  };
}

function readFrame(bytes: Buffer): (Frame & { length: number }) | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return undefined;
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < start + size) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + size));
  return { fin: (first & 0x80) !== 0, opcode: first & 0x0f, payload, length: start + size };
}

function masked(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const size = payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.alloc(3);
  if (payload.length >= 126) {
    size[0] = 0x80 | 126;
    size.writeUInt16BE(payload.length, 1);
  }
  const body = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return Buffer.concat([Buffer.from([0x80 | opcode]), size, mask, body]);
}

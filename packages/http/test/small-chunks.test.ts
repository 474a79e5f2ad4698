import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { until } from "@coffer/testkit";
import t from "tap";
import { openRaw, type RawConnection } from "./raw.ts";
import { rows } from "./rows.ts";
import { startApp } from "./start-app.ts";

// A chunk costs time and memory whatever its size: a sender of one-byte chunks must not gain by that.

const mebibyte = 1024 * 1024;
const app = await startApp(t, rows);
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** `text` in chunks of `size` bytes. */
const chunked = (bytes: Buffer, size: number): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat(parts);
};
const sized = (length: number): Buffer => Buffer.from(`{"name":"a"${" ".repeat(length - 12)}}`);

async function post(body: Buffer, { path = "/api/things", method = "PATCH", coding = "identity" } = {}) {
  const connection = await openRaw(t, app.port);
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\n`;
  connection.socket.write(`${head}Content-Encoding: ${coding}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  connection.socket.write(body);
  return connection;
}
/** The memory in use. */
const used = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const end = Buffer.from("0\r\n\r\n");
const whole = async (body: Buffer, size: number, options = {}): Promise<string> => {
  const connection = await post(Buffer.concat([chunked(body, size), end]), options);
  const text = await connection.until(/request_id|"name"/);
  connection.socket.destroy();
  return text;
};

await t.test("a body in chunks of any size arrives as it was sent", async (t) => {
  const name = "é".repeat(100);
  const padding = " ".repeat(20_000);
  for (const size of [1, 3, 100, 4095, 4096, 20_000]) {
    const body = Buffer.from(`{"name":"${name}"${size < 3 ? "" : padding}}`);
    t.match(await whole(body, size), /^HTTP\/1\.1 200 /, `${size}`);
  }
  const mixed = Buffer.from(`{"x":"${"abcdefgh".repeat(10_000)}","name":"mixed"}`);
  const parts: Buffer[] = [];
  for (let at = 0, n = 0; at < mixed.length; n++) {
    const size = [1, 5_000, 7, 4_096, 900][n % 5] ?? 1;
    parts.push(chunked(mixed.subarray(at, at + size), size));
    at += size;
  }
  const connection = await post(Buffer.concat([...parts, end]));
  t.match(await connection.until(/"name":"[^"]*"/), '"name":"mixed"');
});

await t.test("16,384 chunks may be of any size", async (t) => {
  t.match(await whole(sized(16 * 1024), 1), /^HTTP\/1\.1 200 /);
  t.match(await whole(sized(16 * 1024 + 100), 1), /^HTTP\/1\.1 400 [^]*too many small chunks/);
  t.match(await whole(sized(17 * 1024), 1, { coding: "gzip" }), /^HTTP\/1\.1 400 [^]*too many small chunks/);
  t.match(await whole(sized(mebibyte), 512), /^HTTP\/1\.1 200 /, "as many segments as a connection may need");
  t.match(await whole(gzipSync(sized(2_000)), 1, { coding: "gzip" }), /^HTTP\/1\.1 200 /, "compressed");
});

await t.test("an unfinished body in one-byte chunks costs about its size", async (t) => {
  const before = used();
  const count = 40;
  const body = chunked(sized(16 * 1024 - 1), 1);
  const open: RawConnection[] = [];
  for (let n = 0; n < count; n++) open.push(await post(body));
  await until("the bodies are sent", () => open.every(({ socket }) => socket.writableLength === 0));
  // Answered behind the bodies.
  t.match(await whole(sized(20), 1), /^HTTP\/1\.1 200 /);
  const grown = used() - before;
  t.ok(grown < count * 0.25 * mebibyte, `${Math.round(grown / mebibyte)} MiB for ${count} bodies of 16 KiB`);
  for (const { socket } of open) socket.destroy();
});

await t.test("after a refusal a small chunk counts as 512 bytes of the 4 MiB that are still read", async () => {
  // Else the connection ends after a second.
  await until("one of the connections ends soon", async () => {
    const connection = await post(Buffer.alloc(0), { path: "/api/nothing" });
    await connection.until(/request_id/);
    const refused = performance.now();
    connection.socket.write(chunked(Buffer.alloc(9_000, " "), 1));
    await connection.ended();
    return performance.now() - refused < 600;
  });
});

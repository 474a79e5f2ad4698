import { ServiceError } from "@coffer/errors";
import { until } from "@coffer/testkit";
import t from "tap";
import { anyone, route, streamed } from "../src/index.ts";
import { openRaw } from "./raw.ts";
import { startApp } from "./start-app.ts";

/** The parts of a response, and how many were read. */
interface Source {
  parts(): AsyncGenerator<string>;
  read: number;
  left: boolean;
}
const sources = new Map<string, Source>();

/** A response at /api/answers/{name}: `count` parts, one of which may throw `error`. */
function answerOf(name: string, count: number, { part = '"part"', error, at = 0 }: Partial<Thrown> = {}): Source {
  const source: Source = {
    read: 0,
    left: false,
    async *parts() {
      try {
        for (let n = 0; n < count; n += 1) {
          source.read += 1;
          await Promise.resolve();
          if (error !== undefined && n === at) throw error;
          yield `${n === 0 ? "[" : ","}${part}${n === count - 1 ? "]" : ""}`;
        }
      } finally {
        source.left = true;
      }
    },
  };
  sources.set(name, source);
  return source;
}
interface Thrown {
  part: string;
  error: Error;
  at: number;
}

const refused: string[] = [];
const answers = route({
  method: "GET",
  path: "/api/answers/:name",
  bucket: "user",
  caller: anyone,
  status: 200,
  run: (_deps: object, { params }: { params: unknown }) => {
    const source = sources.get((params as { name: string }).name);
    if (source === undefined) throw new ServiceError("not_found", "no such answer");
    return Promise.resolve(streamed("tag", source.parts()));
  },
});
const app = await startApp(t, [answers], {
  onRefused: (_route, { params }, error) => {
    refused.push(`${params["name"] ?? ""} ${error.code}`);
    return Promise.resolve();
  },
});
const get = (name: string, init: RequestInit = {}) => fetch(`${app.url}/api/answers/${name}`, init);
const counted = async (status: number): Promise<boolean> =>
  (await app.metrics()).includes(`http_route="/api/answers/{name}",http_response_status_code="${status}"`);

await t.test("an answer in parts is one document with its tag", async (t) => {
  for (const count of [1, 2, 100]) {
    answerOf("whole", count);
    const response = await get("whole");
    t.equal(response.status, 200);
    t.equal(response.headers.get("etag"), '"tag"');
    t.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
    t.strictSame(await response.json(), Array<string>(count).fill("part"));
  }
});

await t.test("an error before the first part is answered, a later one cuts the response", async (t) => {
  const error = new ServiceError("access_denied", "not any more");
  answerOf("early", 3, { error });
  const early = await get("early");
  t.equal(early.status, 403);
  t.match(await early.json(), { error: "access_denied" });
  t.equal(early.headers.get("etag"), null);
  answerOf("late", 3, { error, at: 2 });
  await t.rejects(
    get("late").then((late) => late.text()),
    "no end of the answer comes",
  );
  t.strictSame(refused, ["early access_denied", "late access_denied"], "both are recorded");
  await until("it is counted as what it was", () => counted(403));
});

await t.test("an answer that a store's outage cuts off is logged and counted", async (t) => {
  answerOf("outage", 2, { error: new ServiceError("unavailable", "the database does not answer"), at: 1 });
  await t.rejects(get("outage").then((response) => response.text()));
  await until("it is counted", () => counted(503));
  t.match(app.logged(), /a request could not be served/);
});

await t.test("parts are read with backpressure, and none after a disconnect", async (t) => {
  const source = answerOf("large", 1000, { part: `"${"x".repeat(1024 * 1024)}"` });
  const caller = await openRaw(t, app.port);
  caller.socket.write("GET /api/answers/large HTTP/1.1\r\nHost: x\r\n\r\n");
  await caller.until(/200 OK/);
  caller.socket.pause();
  // A part that was read without backpressure would be read before another request is answered.
  for (let n = 0; n < 20; n += 1) await (await get("none")).text();
  t.ok(source.read < 100, `${source.read} of 1000`);
  t.notOk(source.left);
  caller.socket.destroy();
  await until("it is left", () => source.left);
  t.ok(source.read < 100, `${source.read} of 1000`);
  await until("it is counted", () => counted(499));
});

await t.test("a caller that takes everything gets everything", async (t) => {
  const source = answerOf("large", 100, { part: `"${"x".repeat(1024 * 1024)}"` });
  t.equal((await (await get("large")).arrayBuffer()).byteLength, 100 * (1024 * 1024 + 2) + 101);
  t.ok(source.left);
});

await t.test("HEAD reads one part and has no body", async (t) => {
  const source = answerOf("head", 10);
  const response = await get("head", { method: "HEAD" });
  t.equal(response.status, 200);
  t.equal(response.headers.get("etag"), '"tag"');
  t.equal(await response.text(), "");
  t.equal(source.read, 1);
  t.ok(source.left);
});

await t.test("an unread body does not delay the response", async (t) => {
  answerOf("unread", 2);
  const caller = await openRaw(t, app.port);
  caller.socket.write("GET /api/answers/unread HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  caller.socket.write("x".repeat(500_000));
  const received = await caller.ended();
  t.match(received, /Connection: close/i);
  t.match(received, /\["part"[^]*,"part"\]/);
});

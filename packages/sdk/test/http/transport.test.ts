import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import t from "tap";
import { retryDelay } from "../../src/http/backoff.ts";
import { canonicalUrl, createTransport } from "../../src/http/transport.ts";
import { CofferError } from "../../src/index.ts";
import { json, startServer } from "../server/server.ts";

const get = { method: "GET", path: "/thing" } as const;
const post = { method: "POST", path: "/thing", body: { a: 1 } } as const;

async function failure(work: Promise<unknown>): Promise<CofferError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof CofferError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

await t.test("a good answer comes with its status, headers and parsed body", async (t) => {
  const { url, received } = await startServer(t, (_request, response) =>
    json(response, 201, { ok: 1 }, { etag: '"7"' }),
  );
  const answer = await createTransport({ url }).send({
    ...post,
    bearer: "abc",
    query: { q: "a b&c", none: undefined },
  });
  t.equal(answer.status, 201);
  t.equal(answer.headers.get("etag"), '"7"');
  t.same(answer.body, { ok: 1 });
  t.match(received, [{ path: "/thing?q=a%20b%26c", body: '{"a":1}', headers: { authorization: "Bearer abc" } }]);
});

await t.test("it says which program calls, but for a browser, which says that itself", async (t) => {
  const { url, received } = await startServer(t, (_request, response) => json(response, 200, {}));
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  await createTransport({ url }).send(get);
  await createTransport({ url, userAgent: "deploy/7" }).send(get);
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  t.teardown(() => Object.defineProperty(globalThis, "navigator", own ?? {}));
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Mozilla/5.0 (X11)" }, configurable: true });
  await createTransport({ url, userAgent: "deploy/7" }).send(get);
  const [first, second, third] = received.map(({ headers }) => headers["user-agent"]);
  t.same([first, second], [`coffer-sdk/${version}`, "deploy/7"]);
  t.notMatch(third ?? "", /coffer|deploy/);
});

await t.test("the service's own code, message, request id and details become the error", async (t) => {
  const body = { error: "conflict", message: "taken", request_id: "r1", details: [{ field: "name", issue: "taken" }] };
  const { url } = await startServer(t, (_request, response) => json(response, 409, body));
  const error = await failure(createTransport({ url }).send(get));
  t.match(error, { code: "conflict", message: "taken", status: 409, requestId: "r1", details: body.details });
});

await t.test("a refused request waits for Retry-After and is sent again, also a POST", async (t) => {
  const times: number[] = [];
  const { url } = await startServer(t, (_request, response, count) => {
    times.push(performance.now());
    if (count === 1) json(response, 429, { error: "rate_limited", message: "slow down" }, { "retry-after": "1" });
    else json(response, 200, { ok: true });
  });
  t.same((await createTransport({ url }).send(post)).body, { ok: true });
  t.equal(times.length, 2);
  t.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990, "it came back no sooner than allowed");
});

await t.test("with maxRefusedSeconds refusals are no attempts, until that time is over", async (t) => {
  let refusals = 5;
  const { url, received } = await startServer(t, (_request, response) => {
    if ((refusals -= 1) < 0) json(response, 200, { ok: true });
    else json(response, 429, { error: "rate_limited", message: "slow down" }, { "retry-after": "0" });
  });
  t.same((await createTransport({ url, attempts: 2, maxRefusedSeconds: 60 }).send(post)).body, { ok: true });
  t.equal(received.length, 6);

  refusals = Infinity;
  await t.rejects(createTransport({ url, attempts: 2 }).send(get), { code: "rate_limited" });
  t.equal(received.length, 8, "without it they are");
  await t.rejects(createTransport({ url, maxRefusedSeconds: 60 }).send({ ...get, attempts: 1 }), {
    code: "rate_limited",
  });
  t.equal(received.length, 9, "a request that says itself how often it is tried is not tried more often");
  await t.rejects(createTransport({ url, attempts: 1, maxRefusedSeconds: 2 }).send(get), { code: "rate_limited" });
  t.ok(received.length > 10, "it came back");
});

await t.test("a Retry-After longer than the patience is an error at once, and says how long", async (t) => {
  const { url, received } = await startServer(t, (_request, response) =>
    json(response, 429, { error: "rate_limited", message: "slow down" }, { "retry-after": "30" }),
  );
  const error = await failure(createTransport({ url, maxWaitSeconds: 29 }).send(get));
  t.match(error, { code: "rate_limited", retryAfterSeconds: 30 });
  t.equal(received.length, 1);
});

await t.test("a request to an unavailable service is repeated, except a POST, which may have been done", async (t) => {
  const { url, received } = await startServer(t, (_request, response, count) => {
    if (count < 3) json(response, 503, { error: "unavailable", message: "soon" }, { "retry-after": "0" });
    else json(response, 200, {});
  });
  t.equal((await failure(createTransport({ url }).send(post))).code, "unavailable");
  t.equal(received.length, 1);
  t.equal((await createTransport({ url }).send(get)).status, 200);
  t.equal(received.length, 3);
});

await t.test("a service that stays away is asked less and less often, yet never sooner than it says", (t) => {
  const away = (retryAfterSeconds?: number): CofferError =>
    new CofferError("unavailable", "starting", { retryAfterSeconds });
  const delays = (error: CofferError, attempt: number): number[] =>
    Array.from({ length: 200 }, () => retryDelay(error, attempt, true) ?? NaN);
  for (const [attempt, from, to] of [
    [1, 1000, 1500],
    [2, 1000, 3000],
    [3, 2000, 6000],
    [4, 4000, 8000],
    [30, 8000, 8000],
  ] as const)
    t.ok(
      delays(away(1), attempt).every((delay) => delay >= from && delay <= to),
      `attempt ${attempt}`,
    );
  t.ok(delays(away(20), 30).every((delay) => delay >= 20_000 && delay <= 20_100));
  t.ok(delays(away(), 3).every((delay) => delay >= 400 && delay <= 1200));
  const refused = new CofferError("rate_limited", "slow down", { retryAfterSeconds: 1 });
  t.ok(delays(refused, 30).every((delay) => delay >= 1000 && delay <= 1100));
  t.end();
});

await t.test("a request whose answer is lost is repeated where that is safe, as often as allowed", async (t) => {
  const { url, received } = await startServer(t, (_request, response) => response.destroy());
  const told: string[] = [];
  const onRetry = ({ code }: CofferError, elapsed: number): void => void told.push(elapsed > 0 ? code : "");
  t.equal((await failure(createTransport({ url, attempts: 3, onRetry }).send(get))).code, "network");
  t.same(told, ["network", "network"], "and each retry is reported");
  t.equal(received.length, 3);
  t.equal((await failure(createTransport({ url, attempts: 3 }).send(post))).code, "network");
  t.equal(received.length, 4);
  t.equal((await failure(createTransport({ url, attempts: 2 }).send({ ...post, repeatable: true }))).code, "network");
  t.equal(received.length, 6);
});

await t.test("a service that does not answer in time is a network error that says so", async (t) => {
  const { url } = await startServer(t, () => undefined);
  const error = await failure(createTransport({ url, attempts: 1, timeoutMilliseconds: 50 }).send(get));
  t.match(error, { code: "network", message: /no answer within 0.05 s/ });
});

await t.test("a body that stops half-way counts as no answer in time", async (t) => {
  const { url } = await startServer(t, (_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{");
  });
  t.equal((await failure(createTransport({ url, attempts: 1, timeoutMilliseconds: 50 }).send(get))).code, "network");
});

for (const [what, status, body, code] of [
  ["a page of a proxy with 502", 502, "<html>Bad Gateway</html>", "unavailable"],
  ["a page with 200", 200, "<html>Welcome</html>", "bad_answer"],
  ["JSON that is no object", 200, "17", "bad_answer"],
  ["an unknown code with 401", 401, '{"error":"strange"}', "invalid_token"],
  ["a foreign 404", 404, "nothing here", "not_found"],
  ["a foreign 418", 418, "teapot", "bad_answer"],
] as const)
  await t.test(`${what} is ${code}`, async (t) => {
    const { url } = await startServer(t, (_request, response) => {
      response.writeHead(status);
      response.end(body);
    });
    t.match(await failure(createTransport({ url, attempts: 1 }).send(get)), { code, status });
  });

await t.test("a response over the limit is refused at once, with its rest unread, compressed or not", async (t) => {
  const text = `{"a":"${"b".repeat(2_000)}"}`;
  const { url, received } = await startServer(t, ({ path }, response) => {
    const gzip = path.includes("gzip");
    response.writeHead(path.includes("503") ? 503 : 200, gzip ? { "content-encoding": "gzip" } : {});
    if (gzip) response.end(gzipSync(text));
    else response.write(text);
  });
  const transport = createTransport({ url, maxAnswerBytes: 1_000, attempts: 2, timeoutMilliseconds: 5_000 });
  for (const path of ["/thing", "/gzip", "/503"]) {
    const error = await failure(transport.send({ ...get, path }));
    t.match(error, { code: "bad_answer", message: "answered with more than this client reads" }, path);
  }
  t.equal(received.length, 3, "each was sent once");
  const whole = createTransport({ url, maxAnswerBytes: text.length });
  t.same((await whole.send({ ...get, path: "/gzip" })).body, JSON.parse(text));
});

await t.test("without an option a response may have 512 MiB", async (t) => {
  const chunk = new Uint8Array(64 * 1024 * 1024);
  let chunks = 0;
  const endless = (): ReadableStream =>
    new ReadableStream(
      {
        pull(controller) {
          if ((chunks += 1) > 20) controller.close();
          else controller.enqueue(chunk);
        },
      },
      { highWaterMark: 0 },
    );
  const transport = createTransport({
    url: "https://vault.example",
    fetch: () => Promise.resolve(new Response(endless())),
  });
  t.match(await failure(transport.send(get)), { code: "bad_answer" });
  t.equal(chunks, 9);
});

await t.test("an answer in small chunks is the same answer", async (t) => {
  const text = `{"a":"${"é".repeat(50_000)}"}`;
  const bytes = new TextEncoder().encode(text);
  for (const sizes of [[1], [1, 5_000, 7, 4_096, 900]]) {
    let at = 0;
    let chunks = 0;
    const answer = new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) controller.close();
        else controller.enqueue(bytes.slice(at, (at += sizes[chunks++ % sizes.length] ?? 1)));
      },
    });
    const transport = createTransport({
      url: "https://vault.example",
      fetch: () => Promise.resolve(new Response(answer)),
    });
    t.same((await transport.send(get)).body, JSON.parse(text));
  }
});

await t.test("a redirect is not followed: the bearer goes to no other place", async (t) => {
  const other = await startServer(t, (_request, response) => json(response, 200, {}));
  const { url } = await startServer(t, (_request, response) => {
    response.writeHead(307, { location: `${other.url}/thing` });
    response.end();
  });
  t.equal((await failure(createTransport({ url, attempts: 1 }).send({ ...get, bearer: "abc" }))).code, "network");
  t.equal(other.received.length, 0);
});

await t.test("an address without a listener is a network error with the reason", async (t) => {
  const { url } = await startServer(t, () => undefined);
  const free = new URL(url);
  free.port = "1";
  const error = await failure(createTransport({ url: free.href, attempts: 1 }).send(get));
  t.match(error, { code: "network", message: /ECONNREFUSED|bad port/ });
});

await t.test("giving a call up ends its wait at once", async (t) => {
  const { url } = await startServer(t, (_request, response) =>
    json(response, 429, { error: "rate_limited", message: "slow down" }, { "retry-after": "50" }),
  );
  const giveUp = new AbortController();
  const call = failure(createTransport({ url, signal: giveUp.signal }).send(get));
  setTimeout(() => giveUp.abort(), 20);
  t.match(await call, { code: "network", message: /aborted/ });
});

await t.test("an address loses its trailing slashes and keeps its path", (t) => {
  t.equal(canonicalUrl("https://coffer.example.com/"), "https://coffer.example.com");
  t.equal(canonicalUrl("http://127.0.0.1:8080/base//"), "http://127.0.0.1:8080/base");
  t.end();
});

for (const wrong of ["coffer.example.com", "ftp://x", "https://u:p@x", "https://x/?a=1", "https://x/#a", ""])
  await t.test(`the address "${wrong}" is refused`, (t) => {
    t.throws(() => canonicalUrl(wrong), { code: "configuration" });
    t.end();
  });

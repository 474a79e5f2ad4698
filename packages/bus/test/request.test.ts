import { ServiceError } from "@coffer/errors";
import { auditAppendOf, membershipOf, type RpcSubject, signingKeys } from "@coffer/events";
import { testNats } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { maxPayloadBytes } from "../src/index.ts";
import { echo, openBuses, type TestBus } from "./buses.ts";

const server = await testNats(t);

async function pair(t: { teardown(work: () => unknown): unknown }): Promise<[TestBus, TestBus]> {
  const [caller, responder] = await openBuses(t, server, "vaults", "auth-sm");
  if (caller === undefined || responder === undefined) throw new Error("two buses");
  return [caller, responder];
}

void t.test("a request gets its response", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(echo, ({ text }) => Promise.resolve({ text: `${text}!` }));
  await auth.flush();
  t.same(await vaults.request(echo, { text: "grüß dich 🔑" }), { text: "grüß dich 🔑!" });
  t.match(await vaults.measured(), /"outcome":"ok"/);
  t.match(await auth.measured(), /coffer_bus_replies_total/);
});

void t.test("each of many concurrent requests gets its own response", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(echo, async ({ text }) => {
    await new Promise((resolve) => setTimeout(resolve, Number(text) % 7));
    return { text };
  });
  await auth.flush();
  const texts = Array.from({ length: 200 }, (_, index) => String(index));
  const answers = await Promise.all(texts.map((text) => vaults.request(echo, { text })));
  t.same(
    answers.map(({ text }) => text),
    texts,
  );
});

void t.test("of several replicas exactly one answers", async (t) => {
  const [vaults, first, second] = await openBuses(t, server, "vaults", "auth-sm", "auth-sm");
  const calls = [0, 0];
  for (const [index, bus] of [first, second].entries())
    bus?.reply(echo, (input) => {
      calls[index] = (calls[index] ?? 0) + 1;
      return input;
    });
  await Promise.all([first?.flush(), second?.flush()]);
  for (let index = 0; index < 100; index += 1) await vaults?.request(echo, { text: "x" });
  t.equal((calls[0] ?? 0) + (calls[1] ?? 0), 100);
  t.ok(
    calls.every((count) => count > 0),
    `both take part: ${calls.join(" and ")}`,
  );
});

void t.test("a request without a responder is unavailable at once", async (t) => {
  const [vaults] = await pair(t);
  const start = performance.now();
  const requested = vaults.request(membershipOf, { user_id: "u", session_id: "s" }, { timeoutMilliseconds: 30_000 });
  const error = await requested.catch((e: unknown) => e);
  t.match(error, {
    code: "unavailable",
    status: 503,
    retryAfterSeconds: 1,
    message: "the service auth-sm does not answer: try again",
  });
  t.match((error as Error).cause, { message: /^coffer\.rpc\.\S+ has no responder/ });
  t.ok(performance.now() - start < 15_000, "not after the time of a request");
  t.match(await vaults.measured(), /"outcome":"unavailable"/);
});

void t.test("an answer that does not come in time is unavailable", async (t) => {
  const [vaults, auth] = await pair(t);
  const late = Promise.withResolvers<{ text: string }>();
  auth.reply(echo, () => late.promise);
  await auth.flush();
  const start = performance.now();
  const error = await vaults.request(echo, { text: "x" }, { timeoutMilliseconds: 150 }).catch((e: unknown) => e);
  t.match(error, { code: "unavailable", message: /^[^.]*$/, cause: { message: /within 150 ms/ } });
  t.ok(performance.now() - start >= 145, "not sooner");
  const byDefault = performance.now();
  await t.rejects(vaults.request(echo, { text: "x" }), {
    code: "unavailable",
    cause: { message: /within 2000 ms/ },
  });
  t.ok(performance.now() - byDefault >= 1990);
  late.resolve({ text: "late" });
});

void t.test("a ServiceError of the handler crosses the wire, without its cause and stack", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(echo, () => {
    throw new ServiceError("conflict", "the name is taken", {
      details: [{ field: "name", issue: "taken" }],
      retryAfterSeconds: 3,
      cause: new Error("c4n4ry"),
    });
  });
  await auth.flush();
  const error: unknown = await vaults.request(echo, { text: "x" }).catch((e: unknown) => e);
  t.ok(error instanceof ServiceError);
  t.match(error, {
    code: "conflict",
    status: 409,
    message: "the name is taken",
    details: [{ field: "name", issue: "taken" }],
    retryAfterSeconds: 3,
  });
  t.notOk(error instanceof Error && "cause" in error);
  t.notMatch(auth.logged(), "a bus request failed", "an expected outcome is no bug");
});

void t.test("a bug of the handler is internal_error without detail, and logged where it happened", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(echo, () => Promise.reject(new RangeError("c4n4ry in the details")));
  await auth.flush();
  const error = await vaults.request(echo, { text: "x" }).catch((e: unknown) => e);
  t.match(error, { code: "internal_error", status: 500 });
  t.notMatch(String(error), "c4n4ry");
  t.match(auth.logged(), "c4n4ry in the details");
  t.match(auth.logged(), echo.subject);
});

void t.test("an input of the wrong shape is a bug of the caller and is never sent", async (t) => {
  const [vaults, auth] = await pair(t);
  let handled = false;
  auth.reply(echo, (input) => {
    handled = true;
    return input;
  });
  await auth.flush();
  const wrong = { text: ["c4n4ry"] } as unknown as { text: string }; // refused by the types
  const error = await vaults.request(echo, wrong).catch((e: unknown) => e);
  t.ok(error instanceof TypeError);
  t.match(String(error), /invalid_type at "text"/);
  t.notMatch(String(error), "c4n4ry");
  t.notOk(handled);
});

const ofAnotherVersion = {
  ...echo,
  input: z.object({ text: z.union([z.string(), z.number()]), extra: z.string().optional() }),
  output: z.object({ text: z.union([z.string(), z.number()]), extra: z.string().optional() }),
} satisfies RpcSubject<unknown, unknown>;

void t.test("an input that the responder cannot read is invalid_request and never reaches its handler", async (t) => {
  const [vaults, auth] = await pair(t);
  let handled = false;
  auth.reply(echo, (input) => {
    handled = true;
    return input;
  });
  await auth.flush();
  await t.rejects(vaults.request(ofAnotherVersion, { text: 7 }), { code: "invalid_request" });
  t.notOk(handled);
});

void t.test("an answer that the caller cannot read is internal_error", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(ofAnotherVersion, () => ({ text: 7 }));
  await auth.flush();
  await t.rejects(vaults.request(echo, { text: "x" }), { code: "internal_error", message: /auth-sm/ });
});

void t.test("an output of the wrong shape is a bug of the responder", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(echo, () => ({ text: 7 }) as unknown as { text: string }); // refused by the types
  await auth.flush();
  await t.rejects(vaults.request(echo, { text: "x" }), { code: "internal_error" });
  t.match(auth.logged(), /the output of .* invalid_type at \\"text\\"/);
});

void t.test("fields of a newer version are dropped on both ways", async (t) => {
  const [vaults, auth] = await pair(t);
  let seen: unknown;
  auth.reply(echo, (input) => {
    seen = input;
    return { ...input, extra: "newer" };
  });
  await auth.flush();
  t.same(await vaults.request(ofAnotherVersion, { text: "x", extra: "newer" }), { text: "x" });
  t.same(seen, { text: "x" });
});

void t.test("a malformed reply is internal_error, and so is an unknown error code", async (t) => {
  const { connect } = await import("@nats-io/transport-node");
  const [vaults] = await openBuses(t, server, "vaults");
  if (vaults === undefined) throw new Error("a bus");
  const { user, password } = server.credentials["auth-sm"];
  const raw = await connect({ servers: server.url, user, pass: password });
  t.teardown(() => raw.close());
  const replies = ["", "not json", "[]", '{"neither":1}', '{"error":{"code":"teapot","message":"short and stout"}}'];
  raw.subscribe(echo.subject, { callback: (_error, message) => void message.respond(replies.shift() ?? "") });
  await raw.flush();
  for (let left = replies.length; left > 0; left -= 1)
    await t.rejects(vaults.request(echo, { text: "x" }), { code: "internal_error" });
  t.equal(replies.length, 0);
});

// {"text":"…"} around a text of ASCII.
const textOfBytes = (bytes: number): string => "x".repeat(bytes - '{"text":""}'.length);

void t.test("a request of exactly 512 KiB is sent, one byte more is refused before sending", async (t) => {
  const [vaults, auth] = await pair(t);
  let handled = 0;
  auth.reply(echo, ({ text }) => {
    handled += 1;
    return { text: String(text.length) };
  });
  await auth.flush();
  const largest = textOfBytes(maxPayloadBytes);
  t.same(await vaults.request(echo, { text: largest }), { text: String(largest.length) });
  await t.rejects(vaults.request(echo, { text: `${largest}x` }), {
    code: "payload_too_large",
    message: "the payload has 524289 bytes, more than the 524288 of one message: send it in pages",
  });
  t.equal(handled, 1);
  const umlauts = "ü".repeat(maxPayloadBytes / 2);
  await t.rejects(
    vaults.request(echo, { text: umlauts }),
    { code: "payload_too_large" },
    "bytes count, not characters",
  );
});

void t.test("an answer of more than 512 KiB becomes an error that says so", async (t) => {
  const [vaults, auth] = await pair(t);
  auth.reply(echo, ({ text }) => ({ text: "x".repeat(Number(text)) }));
  await auth.flush();
  const most = maxPayloadBytes - '{"value":{"text":""}}'.length;
  t.equal((await vaults.request(echo, { text: String(most) })).text.length, most);
  await t.rejects(vaults.request(echo, { text: String(most + 1) }), { code: "payload_too_large" });
});

void t.test("bytes in an answer follow it unchanged", async (t) => {
  const [vaults, auth] = await pair(t);
  const bytes: RpcSubject<{ text: string }, { text: string; bytes: Uint8Array }> = {
    ...echo,
    output: z.object({ text: z.string(), bytes: z.instanceof(Uint8Array) }),
    raw: "bytes",
  };
  const given = new Map<string, Uint8Array>([
    ["none", new Uint8Array()],
    ["lines", Buffer.from("\n{\n}\n")],
    ["any", Uint8Array.from({ length: 256 }, (_, index) => index)],
    ["most", new Uint8Array(maxPayloadBytes - '{"value":{"text":"most"}}\n'.length)],
    ["more", new Uint8Array(maxPayloadBytes - '{"value":{"text":"more"}}\n'.length + 1)],
  ]);
  auth.reply(bytes, ({ text }) => {
    const answer = given.get(text);
    if (answer === undefined) throw new ServiceError("not_found", "no such bytes");
    return { text, bytes: answer };
  });
  await auth.flush();
  for (const text of ["none", "lines", "any", "most"]) {
    const answer = await vaults.request(bytes, { text });
    t.same([answer.text, Buffer.compare(answer.bytes, given.get(text) ?? Buffer.from("?"))], [text, 0], text);
  }
  await t.rejects(vaults.request(bytes, { text: "more" }), { code: "payload_too_large" });
  await t.rejects(vaults.request(bytes, { text: "" }), { code: "not_found" }, "an error has none");
});

void t.test("an answer without the bytes that belong to it has another shape", async (t) => {
  const [vaults, auth] = await pair(t);
  const bytes: RpcSubject<{ text: string }, { bytes: Uint8Array }> = {
    ...echo,
    output: z.object({ bytes: z.instanceof(Uint8Array) }),
    raw: "bytes",
  };
  auth.reply(echo, ({ text }) => ({ text }));
  await auth.flush();
  await t.rejects(vaults.request(bytes, { text: "a\nb" }), { code: "internal_error" });
});

void t.test("a service uses only its own subjects", async (t) => {
  const [vaults, auth] = await pair(t);
  await t.rejects(auth.request(signingKeys, {}), TypeError);
  t.throws(() => vaults.reply(signingKeys, () => ({ keys: [] })), TypeError);
  t.throws(() => vaults.reply(auditAppendOf("vaults"), () => ({ stored: 0 })), TypeError);
  auth.reply(signingKeys, () => ({ keys: [] }));
  t.throws(() => auth.reply(signingKeys, () => ({ keys: [] })), TypeError, "one handler per subject");
});

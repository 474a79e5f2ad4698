import t from "tap";
import { createTelemetry, type LogLevel } from "../src/index.ts";
import { collectLines } from "./lines.ts";

const canary = "c4n4ry5ecret0000";

function logger(level: LogLevel = "trace") {
  const lines = collectLines();
  return { lines, log: createTelemetry({ service: "vaults", level, destination: lines.destination }).log };
}

void t.test("a line has time, level by name, service, the fields and the message", (t) => {
  const { lines, log } = logger();
  log.warn({ request_id: "r1", count: 3 }, "slow");
  const [line] = lines.parsed();
  t.match(line, { level: "warn", service: "vaults", pid: process.pid, request_id: "r1", count: 3, msg: "slow" });
  t.match(line?.["time"], /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.notOk("trace_id" in (line ?? {}), "no trace outside a span");
  t.end();
});

void t.test("lines below the level are not written", (t) => {
  const { lines, log } = logger("warn");
  log.info("quiet");
  t.equal(lines.text(), "");
  log.warn("loud");
  t.equal(lines.parsed().length, 1);
  t.end();
});

const secretNames = [
  "authorization",
  "Authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "password",
  "newPassword",
  "token",
  "access_token",
  "refreshToken",
  "secret",
  "client_secret",
  "webhookSecrets",
  "credentials",
  "api_key",
  "dd-api-key",
  "private_key",
  "privateJwk",
  "encrypted_key",
  "encrypted_payload",
  "encryptedData",
  "title_encrypted",
  "data_encrypted",
  "value_encrypted",
  "wrapped_dek",
  "dek",
  "title",
  "notation",
  "body",
  "raw_body",
  "stripe-signature",
  "sec-websocket-protocol",
  "recovery_key",
  "totp_secret",
  "otp",
  "otpauth_url",
  "proof",
  "recovery_codes",
  "registration_record",
  "server_state",
  "url.query",
];

void t.test("a field with a secret name is never shown, at any depth and of any type", (t) => {
  for (const name of secretNames) {
    const { lines, log } = logger();
    log.info({ [name]: canary });
    log.info({ deep: { deeper: [{ [name]: canary }] } });
    log.info({ map: new Map([[name, canary]]) });
    log.info({ [name]: { nested: canary } });
    log.info({ [name]: [canary] });
    log.info({ [name]: Buffer.from(canary) });
    log.child({ [name]: canary }).info("child");
    log
      .child({})
      .child({ context: { [name]: canary } })
      .info("grandchild");
    const bound = log.child({});
    bound.setBindings({ [name]: canary });
    bound.info("bound");
    t.notMatch(lines.text(), canary, name);
    t.equal(lines.parsed().length, 9, name);
    t.equal(lines.parsed()[0]?.[name], "[redacted]");
  }
  t.end();
});

void t.test("a number under a secret name is hidden too; an absent value may be seen", (t) => {
  const { lines, log } = logger();
  log.info({ otp: 123456, token: null, password: undefined, secret: true });
  const [line] = lines.parsed();
  t.match(line, { otp: "[redacted]", token: null, secret: true });
  t.end();
});

void t.test("public values stay", (t) => {
  const { lines, log } = logger();
  const fields = {
    public_key: "MFkw",
    kid: "k1",
    client_id: "c",
    token_id: "i",
    uid: "u",
    key_version: 3,
    route: "/api/vaults/:id",
    at: new Date(0),
    names: new Set(["a"]),
    none: null,
    ok: true,
  };
  log.info(fields);
  t.match(lines.parsed()[0], { ...fields, at: "1970-01-01T00:00:00.000Z", names: ["a"] });
  t.end();
});

const credentials = [
  "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlX2M0bjRyeQ",
  "eyJhbGciOiJFQ0RILUVTIn0.a2V5.aXY.Y2lwaGVydGV4dA.dGFn",
  `cft1_${canary}`,
  `cfr1_${canary}`,
  `cfs1_${canary}`,
  `cfi1_${canary}`,
  `whsec_${canary}`,
];

void t.test("a credential is replaced in any text", (t) => {
  for (const credential of credentials) {
    const { lines, log } = logger();
    log.info(`got ${credential} from a caller`);
    log.info("got %s from %o", credential, { x: credential });
    log.info({ note: `x=${credential}`, list: [credential] });
    log.error(new Error(`bad ${credential}`));
    log.child({ note: credential }).info("child");
    const [, , secretPart = credential] = credential.split(/[_.]/);
    t.notMatch(lines.text(), credential);
    t.notMatch(lines.text(), secretPart);
    t.equal(lines.parsed().length, 5);
  }
  t.end();
});

void t.test("URLs lose only their secrets", (t) => {
  const { lines, log } = logger();
  log.info({ url: `wss://h/api/sync/ws?token=${canary}&v=1`, store: `postgres://user:${canary}@db:5432/x` });
  log.info({ url: `/x?a=1&access_token=${canary}`, header: `Bearer ${canary}` });
  t.notMatch(lines.text(), canary);
  const [first, second] = lines.parsed();
  t.match(first, { url: "wss://h/api/sync/ws?token=[redacted]&v=1", store: "postgres://[redacted]@db:5432/x" });
  t.match(second, { url: "/x?a=1&access_token=[redacted]", header: "Bearer [redacted]" });
  t.end();
});

void t.test("a private key in PEM is replaced whole, and the line stays JSON", (t) => {
  const { lines, log } = logger();
  log.info({ note: `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----\n` }, 'he said "hi" \\ bye');
  t.notMatch(lines.text(), canary);
  t.match(lines.parsed()[0], { note: "[redacted]", msg: 'he said "hi" \\ bye' });
  t.end();
});

void t.test("ordinary sentences are left alone", (t) => {
  const { lines, log } = logger();
  const sentences = [
    "Basic authentication is off",
    "a bearer token was refused",
    "eyJ is how they begin",
    "cft1_ is a prefix",
  ];
  for (const sentence of sentences) log.info(sentence);
  t.same(
    lines.parsed().map(({ msg }) => msg),
    sentences,
  );
  t.end();
});

void t.test("an error is logged with type, code, stack and causes, and without a driver's own fields", (t) => {
  const { lines, log } = logger();
  const cause = Object.assign(new TypeError("deep"), { code: "ECONNREFUSED", port: 5432 });
  const error = Object.assign(new Error("insert failed", { cause }), {
    code: "23505",
    constraint: "vaults_pkey",
    detail: `Key (email)=(${canary}) already exists.`,
    values: [canary],
    query: `insert ${canary}`,
  });
  log.error(error, "write failed");
  log.error({ err: error, request_id: "r" }, "again");
  log.error({ error, failed: { error } });
  t.notMatch(lines.text(), canary);
  const described = {
    type: "Error",
    message: "insert failed",
    code: "23505",
    constraint: "vaults_pkey",
    cause: { type: "TypeError", message: "deep", code: "ECONNREFUSED", port: 5432 },
  };
  const [first, second, third] = lines.parsed();
  t.match(first, { err: described, msg: "write failed" });
  t.match(first, { err: { stack: /log\.test\.ts/ } });
  t.match(second, { err: described, request_id: "r" });
  t.match(third, { error: described, failed: { error: described } });
  t.end();
});

void t.test("nested errors are cut, and any value can be thrown", (t) => {
  const { lines, log } = logger();
  const loop = new Error("loop");
  loop.cause = loop;
  log.error(loop);
  log.error({ err: new AggregateError([new Error("one"), "two", 3], "many") });
  log.error({ err: { toString: null } });
  const [first, second] = lines.parsed();
  t.equal(JSON.stringify(first).split('"message":"loop"').length - 1, 6, "five causes deep");
  t.match(second, { err: { message: "many", errors: [{ message: "one" }, "two", "thrown number"] } });
  t.end();
});

void t.test("bytes are counted, never shown, and values without end are cut", (t) => {
  const { lines, log } = logger();
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  log.info({ data: Buffer.from(canary), plain: new Uint8Array(3), buffer: new ArrayBuffer(2), loop });
  const [line] = lines.parsed();
  t.match(line, { data: "[16 bytes]", plain: "[3 bytes]", buffer: "[2 bytes]" });
  t.match(JSON.stringify(line), "[too deep]");
  t.end();
});

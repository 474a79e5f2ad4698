import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { type Bus, connectBus } from "@coffer/bus";
import { ServiceError } from "@coffer/errors";
import {
  auditAppendOf,
  type AuditDraft,
  identifyMachine,
  membershipOf,
  revokedSessions,
  type ServiceName,
  signingKeys,
} from "@coffer/events";
import { serve } from "@coffer/http";
import { checkedFetch } from "@coffer/openapi";
import { createTelemetry, Registry } from "@coffer/telemetry";
import { type TestNats, testNats, testRedis, type TestScope, until } from "@coffer/testkit";
import { generateSigningKey, signUserToken } from "@coffer/tokens";
import { readConfig } from "../src/config.ts";
import type { ScanAnswer } from "../src/scan/answer.ts";
import { createService, type Seams } from "../src/service.ts";

export const issuer = "https://coffer.test";

type Membership = { orgId: string; status?: "active" | "suspended" };

export interface Person {
  userId: string;
  sessionId: string;
  token: string;
}

export interface Machine {
  clientId: string;
  orgId: string;
  token: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: ScanAnswer & { error?: string; message?: string; details?: { field: string; issue: string }[] };
}

/** One service's end of the bus. */
export async function connect(t: TestScope, nats: TestNats, service: ServiceName): Promise<Bus> {
  const telemetry = createTelemetry({ service, level: "silent" });
  const bus = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
  t.teardown(() => bus.close());
  await until("the bus", () => bus.connected);
  return bus;
}

/**
 * The part of auth-sm that the scanner asks: it signs people's tokens with a real key, and knows
 * these machines.
 */
async function startAuthSm(t: TestScope, nats: TestNats) {
  const bus = await connect(t, nats, "auth-sm");
  const key = await generateSigningKey();
  const memberships = new Map<string, Membership[]>();
  const machines = new Map<string, Machine | "access_denied">();
  const ended = new Set<string>();
  const asked: string[] = [];
  bus.reply(signingKeys, () => ({ keys: [{ ...key.publicJwk, kid: key.kid }] }));
  bus.reply(revokedSessions, () => ({ sessions: [], has_more: false }));
  bus.reply(membershipOf, ({ user_id, session_id, org_id }) => {
    const all = memberships.get(user_id) ?? [];
    const found = org_id === undefined ? all[0] : all.find(({ orgId }) => orgId === org_id);
    const { orgId, status = "active" } = found ?? {};
    const membership =
      orgId === undefined ? null : { org_id: orgId, role: "member" as const, status, plan: "free" as const };
    return { session_active: !ended.has(session_id), has_organization: all.length > 0, membership };
  });
  bus.reply(identifyMachine, ({ token, request }) => {
    asked.push(request.ip);
    const machine = machines.get(token);
    if (machine === undefined) throw new ServiceError("invalid_token", "the token is not valid");
    if (machine === "access_denied")
      throw new ServiceError("access_denied", "this client may not be used from this address");
    return { client_id: machine.clientId, org_id: machine.orgId, application_id: null };
  });
  const sign = ({ userId: sub, sessionId: sid }: Omit<Person, "token">, lifetimeSeconds = 900): Promise<string> =>
    signUserToken(key, { sub, sid }, { issuer, lifetimeSeconds, now: () => new Date(), newId: () => randomUUID() });
  return {
    /** The addresses from which machines called. */
    asked,
    sign,
    async person(...of: Membership[]): Promise<Person> {
      const person = { userId: randomUUID(), sessionId: randomUUID() };
      memberships.set(person.userId, of);
      return { ...person, token: await sign(person) };
    },
    machine(orgId = randomUUID()): Machine {
      const machine = { clientId: randomUUID(), orgId, token: randomUUID() };
      machines.set(machine.token, machine);
      return machine;
    },
    deniedMachine(): { token: string } {
      const token = randomUUID();
      machines.set(token, "access_denied");
      return { token };
    },
    end: ({ sessionId }: Person) => void ended.add(sessionId),
  };
}

/** The part of siem-forwarder that takes the scanner's audit. */
async function startAudit(t: TestScope, nats: TestNats) {
  const bus = await connect(t, nats, "siem-forwarder");
  const records: AuditDraft[] = [];
  const audit = { records, refuses: false, bus };
  bus.reply(auditAppendOf("scanner"), ({ records: sent }) => {
    if (audit.refuses) throw new ServiceError("unavailable", "Postgres is away");
    records.push(...sent);
    return { stored: sent.length };
  });
  return audit;
}

/** A running scanner with real stores, between the ends of auth-sm and siem-forwarder. */
export async function startScanner(
  t: TestScope,
  { env = {}, seams = {} }: { env?: NodeJS.ProcessEnv; seams?: Seams } = {},
) {
  const [nats, redis] = await Promise.all([testNats(t), testRedis(t)]);
  const [authSm, audit] = await Promise.all([startAuthSm(t, nats), startAudit(t, nats)]);
  const config = readConfig({
    COFFER_PORT: "0",
    COFFER_BASE_URL: issuer,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.urls.scanner,
    COFFER_LIMIT_USER: "1000000",
    COFFER_LOG_LEVEL: "trace",
    ...env,
  });
  const registry = new Registry();
  const lines: string[] = [];
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(line.toString());
      done();
    },
  });
  const service = createService(config, { registry, destination }, seams);
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(async () => {
    await server.close();
    await service.close();
  });
  await until("the stores", async () => (await service.ready()).degraded === false);
  const { url } = server;

  /** `POST /api/scanner/scan` */
  const scan = async (
    caller: { token: string } | undefined,
    body: unknown,
    { headers = {}, ask = checkedFetch }: { headers?: Record<string, string>; ask?: typeof fetch } = {},
  ): Promise<Answer> => {
    const authorization: Record<string, string> =
      caller === undefined ? {} : { authorization: `Bearer ${caller.token}` };
    const response = await ask(`${url}/api/scanner/scan`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    // The shape is what the tests are about.
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer["body"] };
  };
  return {
    url,
    nats,
    authSm,
    audit,
    registry,
    lines,
    service,
    scan,
    connect: (name: ServiceName) => connect(t, nats, name),
  };
}

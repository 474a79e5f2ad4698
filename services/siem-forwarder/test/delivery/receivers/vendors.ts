import { gunzipSync } from "node:zlib";
import type { TestScope } from "@coffer/testkit";
import type { Listening, Received, Receiver, Reply } from "./receiver.ts";
import { startReceiver } from "./receiver.ts";

// The four receivers, written from docs/siem.md and the documents of their vendors.

export const hecToken = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

/**
 * JSON objects one after another, with nothing but blanks between them; null when that is not what
 * the text is.
 */
function concatenated(text: string): Record<string, unknown>[] | null {
  const found: Record<string, unknown>[] = [];
  let [depth, start, inString, escaped] = [0, 0, false, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (depth === 0 && character !== "{" && !/\s/.test(character)) return null;
    if (inString) {
      if (escaped) escaped = false;
      else if (character === "\\") escaped = true;
      else if (character === '"') inString = false;
      continue;
    }
    if (character === '"') inString = true;
    if (character === "{" && depth++ === 0) start = at;
    if (character === "}" && --depth === 0)
      found.push(JSON.parse(text.slice(start, at + 1)) as Record<string, unknown>);
  }
  return depth === 0 ? found : null;
}

/** Splunk: HTTP Event Collector. */
export function startHec(
  t: TestScope,
  { indexes = ["main", "coffer"], ...listening }: Listening & { indexes?: string[] } = {},
): Promise<Receiver> {
  const reply = (status: number, code: number, text: string): Reply => ({ status, body: { text, code } });
  return startReceiver(
    t,
    ({ method, path, headers, body }, taken) => {
      if (path !== "/services/collector/event") return { status: 404, body: { text: "not found", code: 404 } };
      if (method !== "POST") return { status: 405 };
      const { authorization } = headers;
      if (authorization === undefined) return reply(401, 2, "Token is required");
      if (!authorization.startsWith("Splunk ")) return reply(401, 3, "Invalid authorization");
      if (authorization !== `Splunk ${hecToken}`) return reply(403, 4, "Invalid token");
      if (body.length === 0) return reply(400, 5, "No data");
      if (body.length > 512 * 1024) return { status: 413, body: "too large" };
      let events: Record<string, unknown>[] | null;
      try {
        events = concatenated(body.toString("utf8"));
      } catch {
        return reply(400, 6, "Invalid data format");
      }
      if (events === null || events.length === 0) return reply(400, 6, "Invalid data format");
      for (const { event, index, time, host, source, sourcetype, ...rest } of events) {
        if (event === undefined) return reply(400, 12, "Event field is required");
        if (event === "" || event === null) return reply(400, 13, "Event field cannot be blank");
        if (index !== undefined && !indexes.some((each) => each === index)) return reply(400, 7, "Incorrect index");
        const texts = [host, source, sourcetype].every((each) => typeof each === "string" && each !== "");
        if (typeof time !== "number" || !texts || Object.keys(rest).length > 0)
          return reply(400, 6, "Invalid data format");
      }
      taken.push(...events.map(({ event }) => event));
      return reply(200, 0, "Success");
    },
    listening,
  );
}

export const azure = {
  tenant_id: "contoso.example",
  client_id: "11111111-2222-3333-4444-555555555555",
  client_secret: "s3cret~value",
  dcr_id: "dcr-00000000000000000000000000000000",
  stream: "Custom-Coffer_CL",
};

/** Azure Monitor: the login service and the data collection endpoint. `tokens` are those that count now. */
export async function startAzure(t: TestScope): Promise<Receiver & { tokens: Set<string>; issued(): number }> {
  const tokens = new Set<string>();
  let issued = 0;
  const login = ({ headers, body }: Received): Reply => {
    if (headers["content-type"] !== "application/x-www-form-urlencoded") return { status: 400 };
    const form = new URLSearchParams(body.toString("utf8"));
    if (form.get("grant_type") !== "client_credentials" || form.get("scope") !== "https://monitor.azure.com/.default")
      return { status: 400, body: { error: "invalid_scope" } };
    if (form.get("client_id") !== azure.client_id || form.get("client_secret") !== azure.client_secret)
      return { status: 401, body: { error: "invalid_client" } };
    issued += 1;
    const token = `token-${issued}`;
    tokens.add(token);
    return { status: 200, body: { token_type: "Bearer", expires_in: 3599, access_token: token } };
  };
  const receiver = await startReceiver(t, (request, taken) => {
    const { method, path, query, headers, body } = request;
    if (method !== "POST") return { status: 405 };
    if (path === `/${azure.tenant_id}/oauth2/v2.0/token`) return login(request);
    if (path !== `/dataCollectionRules/${azure.dcr_id}/streams/${azure.stream}`) return { status: 404 };
    if (query.get("api-version") !== "2023-01-01") return { status: 400 };
    if (!tokens.has(/^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "")) return { status: 401 };
    if (headers["content-type"] !== "application/json") return { status: 400 };
    if (body.length > 1024 * 1024) return { status: 413 };
    const rows = parsed(body);
    if (!Array.isArray(rows)) return { status: 400 };
    for (const row of rows as Record<string, unknown>[]) {
      const names = ["TimeGenerated", "Id", "Action", "Outcome", "ActorType", "ActorId", "TargetType", "TargetId"];
      if (JSON.stringify(Object.keys(row)) !== JSON.stringify([...names, "SourceIp", "Record"])) return { status: 400 };
      if (Number.isNaN(Date.parse(String(row["TimeGenerated"])))) return { status: 400 };
    }
    taken.push(...(rows as { Record: unknown }[]).map(({ Record }) => Record));
    return { status: 204 };
  });
  return Object.assign(receiver, { tokens, issued: () => issued });
}

export const datadogKey = "0123456789abcdef0123456789abcdef";

/** Datadog: the logs intake. */
export function startDatadog(t: TestScope, listening: Listening = {}): Promise<Receiver> {
  const judge = ({ method, path, headers, body }: Received, taken: unknown[]): Reply => {
    if (method !== "POST" || path !== "/api/v2/logs") return { status: 404 };
    if (headers["dd-api-key"] !== datadogKey) return { status: 403, body: { errors: [{ status: "403" }] } };
    if (headers["content-type"] !== "application/json" || headers["content-encoding"] !== "gzip")
      return { status: 400 };
    const plain = gunzipSync(body);
    if (plain.length > 5 * 1024 * 1024) return { status: 413 };
    const entries = parsed(plain);
    if (!Array.isArray(entries) || entries.length === 0) return { status: 400 };
    if (entries.length > 1_000) return { status: 413 };
    for (const entry of entries as Record<string, unknown>[]) {
      if (JSON.stringify(entry).length > 1024 * 1024) return { status: 413 };
      const { ddsource, service, hostname, ddtags, message, timestamp } = entry;
      const texts = [service, hostname, ddtags, message, timestamp];
      if (ddsource !== "coffer" || !texts.every((each) => typeof each === "string") || message === "")
        return { status: 400 };
    }
    taken.push(...(entries as { coffer: unknown }[]).map(({ coffer }) => coffer));
    return { status: 202, body: {} };
  };
  return startReceiver(t, judge, listening);
}

export const elasticKey = "dGVzdDprZXk=";

/** Elasticsearch: the bulk API. `statusOf` gives a document another status than 201. */
export async function startElastic(
  t: TestScope,
): Promise<Receiver & { statusOf: ((id: string) => number | null) | null; documents: Map<string, unknown> }> {
  const extra: { statusOf: ((id: string) => number | null) | null; documents: Map<string, unknown> } = {
    statusOf: null,
    documents: new Map(),
  };
  const basic = `Basic ${Buffer.from("coffer:p:ü").toString("base64")}`;
  const receiver: Receiver = await startReceiver(t, ({ method, path, headers, body }, taken) => {
    if (method !== "POST" || path !== "/coffer-audit/_bulk") return { status: 404 };
    if (![`ApiKey ${elasticKey}`, basic].includes(headers.authorization ?? "")) return { status: 401 };
    if (headers["content-type"] !== "application/x-ndjson") return { status: 406 };
    const text = body.toString("utf8");
    if (!text.endsWith("\n")) return { status: 400, body: { error: "must be terminated by a newline" } };
    const lines = text.slice(0, -1).split("\n");
    const items: object[] = [];
    for (let at = 0; at < lines.length; at += 2) {
      const action = JSON.parse(lines[at] ?? "") as { create: { _id: string } };
      const document = JSON.parse(lines[at + 1] ?? "") as Record<string, unknown>;
      const { _id: id } = action.create;
      const status = elastic.statusOf?.(id) ?? (elastic.documents.has(id) ? 409 : 201);
      if (status === 201) {
        elastic.documents.set(id, document);
        taken.push(document);
      }
      const error = { type: "an_exception", reason: "r".repeat(40) };
      const shards = { total: 2, successful: 1, failed: 0 };
      items.push({
        create:
          status === 201
            ? { _index: "coffer-audit", _id: id, _version: 1, result: "created", _shards: shards, status }
            : { _index: "coffer-audit", _id: id, status, error },
      });
    }
    const errors = items.some((item) => (item as { create: { status: number } }).create.status !== 201);
    return { status: 200, body: { took: 3, errors, items } };
  });
  const elastic = Object.assign(receiver, extra);
  return elastic;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

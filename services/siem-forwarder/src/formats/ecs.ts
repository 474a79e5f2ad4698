import type { AuditDraft, AuditRecord } from "@coffer/events";
import type { EcsCredentials } from "../credentials/credentials.ts";
import type { Answer } from "../outgoing/channel.ts";
import { ecsClassOf } from "./ecs-classes.ts";
import type { Outcome, SiemFormatter } from "./format.ts";
import { answered, batchLimits, failedAnswer, objectIn, retryAfterOf } from "./format.ts";

const ecsVersion = "8.17.0";

/** An answer names every record, and of an answer 64 KiB are read. */
const mostRecords = 200;

/** The bulk API of Elasticsearch, with documents of the Elastic Common Schema. */
export const ecs: SiemFormatter<EcsCredentials> = {
  ...batchLimits,
  mostRecords,
  frame: { open: "", separator: "", close: "" },
  encode({ parse }) {
    const record = parse();
    return `{"create":{"_id":${JSON.stringify(record.id)}}}\n${JSON.stringify(documentOf(record))}\n`;
  },
  async send(channel, { url, credentials, now }, body, count) {
    const answer = await channel.post({
      url,
      headers: { authorization: authorizationOf(credentials), "content-type": "application/x-ndjson" },
      body,
    });
    return outcomeOf(answer, count, now());
  },
};

function authorizationOf(credentials: EcsCredentials): string {
  if ("api_key" in credentials) return `ApiKey ${credentials.api_key}`;
  const { username, password } = credentials;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function outcomeOf(answer: Answer, count: number, now: Date): Outcome {
  const { status, isCut } = answer;
  if (status === 400 || status === 413) return { kind: "refused", status, error: answered(status) };
  if (status !== 200) return failedAnswer(answer, now);
  // The answer about half of the records is half as long.
  if (isCut && count > 1) return { kind: "refused", status, error: "the answer of the endpoint is too long" };
  const { errors, items } = objectIn(answer) ?? {};
  if (errors === false) return { kind: "taken", status, rejected: [] };
  const statuses = Array.isArray(items) ? items.map(statusOf) : [];
  if (errors !== true || statuses.length !== count)
    return failedAnswer(answer, now, ", and not as the bulk API does: check the address");
  const isDone = (each: number): boolean => (each >= 200 && each < 300) || each === 409;
  const isLater = (each: number): boolean => each === 429 || each < 400 || each >= 500;
  const from = statuses.findIndex((each) => !isDone(each) && isLater(each));
  const end = from === -1 ? count : from;
  const rejected = statuses.slice(0, end).flatMap((each, at) => (isDone(each) ? [] : [at]));
  if (from === -1) return { kind: "taken", status, rejected };
  const error = `the endpoint answered ${statuses[from]} for a record`;
  return { kind: "taken", status, rejected, open: { from, error, retryAfterSeconds: retryAfterOf(answer, now) } };
}

/** The status of one item, `{"create": {"status": 201}}`; 0 for anything else. */
function statusOf(item: unknown): number {
  const { create } = (item ?? {}) as { create?: { status?: unknown } | null }; // read with checks
  return typeof create?.status === "number" ? create.status : 0;
}

function documentOf(record: AuditDraft | AuditRecord): object {
  const { time, id, action, outcome, actor, source, org_id: orgId, request, ...rest } = record;
  const { category, type } = ecsClassOf(action);
  const { id: actorId, ...actorRest } = actor;
  const { status, ...requestRest } = request;
  return {
    "@timestamp": time,
    ecs: { version: ecsVersion },
    event: {
      id,
      kind: "event",
      category: [category],
      type: outcome === "denied" ? [type, "denied"] : [type],
      action,
      outcome: outcome === "success" ? "success" : "failure",
      dataset: "coffer.audit",
    },
    ...(actorId === null ? {} : { user: { id: actorId } }),
    ...(source.ip === null ? {} : { source: { ip: source.ip } }),
    ...(orgId === null ? {} : { organization: { id: orgId } }),
    ...(source.user_agent === null ? {} : { user_agent: { original: source.user_agent } }),
    ...(status === null ? {} : { http: { response: { status_code: status } } }),
    coffer: { ...rest, outcome, actor: actorRest, request: requestRest },
  };
}

import type { AuditDraft, AuditRecord } from "@coffer/events";
import type { Answer, Channel } from "../outgoing/channel.ts";

/** A record for delivery. A test event is not in the chain. */
export interface OutgoingRecord {
  /** Parses the record, which a format that needs only its text does not pay for. */
  readonly parse: () => AuditRecord | AuditDraft;
  /** Its time in Unix seconds, with six decimals. */
  readonly seconds: string;
  /** The stored text. */
  readonly text: string;
}

/** An endpoint as a format needs it. */
export interface FormatTarget<Credentials> {
  url: string;
  credentials: Credentials;
  /** The name of this installation. */
  hostName: string;
  now(): Date;
}

/** The result of a batch. */
export type Outcome =
  /**
   * The receiver has taken the batch, except for the items at the places `rejected`, which it will
   * never take, and those from the place `open` on, which are to be sent again.
   */
  | {
      kind: "taken";
      status: number;
      rejected: readonly number[];
      open?: { from: number; error: string; retryAfterSeconds?: number | undefined };
    }
  /** The content is refused: of several records one may be the reason, so that the batch is divided. */
  | { kind: "refused"; status: number; error: string }
  /** An error of the endpoint or on the way to it: nothing is said of the content. */
  | { kind: "failed"; status: number | null; error: string; retryAfterSeconds?: number | undefined };

/** One format of delivery. */
export interface SiemFormatter<Credentials> {
  mostRecords: number;
  /** The size limit of a request's body, before its compression. */
  mostBytes: number;
  /** The text of a body before, between and after its records: ASCII. */
  frame: Frame;
  /** The text of one record in the body. */
  encode(record: OutgoingRecord, target: FormatTarget<Credentials>): string;
  /** Sends a body with so many records. Throws RequestFailure when there is no answer. */
  send(channel: Channel, target: FormatTarget<Credentials>, body: Buffer, count: number): Promise<Outcome>;
}

export interface Frame {
  open: string;
  separator: string;
  close: string;
}

/** A JSON array of the records. */
export const arrayFrame: Frame = { open: "[", separator: ",", close: "]" };

/** The most records and bytes of a batch, in every format. */
export const batchLimits = { mostRecords: 500, mostBytes: 512_000 } as const;

/** The longest accepted `Retry-After` of a receiver. */
const mostRetryAfterSeconds = 3_600;

/** The `Retry-After` of a response, in seconds up to one hour; undefined without one. */
export function retryAfterOf({ headers }: Answer, now: Date): number | undefined {
  const text = headers["retry-after"]?.trim() ?? "";
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now.getTime()) / 1_000);
  return seconds >= 0 ? Math.min(seconds, mostRetryAfterSeconds) : undefined;
}

/** The failure of a response whose status has no special meaning in a format. */
export function failedAnswer(answer: Answer, now: Date, detail = ""): Outcome & { kind: "failed" } {
  const { status } = answer;
  return {
    kind: "failed",
    status,
    error: `${answered(status)}${detail}`,
    retryAfterSeconds: retryAfterOf(answer, now),
  };
}

export function answered(status: number): string {
  if (status >= 300 && status < 400) return `the endpoint answered ${status}, a redirect: give the address it leads to`;
  if (status === 401 || status === 403) return `the endpoint answered ${status}: check the credentials`;
  if (status === 404) return "the endpoint answered 404: check the address";
  return `the endpoint answered ${status}`;
}

/** The JSON object that an answer holds; null for anything else. */
export function objectIn({ body }: Answer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null; // read with checks
  } catch {
    return null;
  }
}

/** The URL with `path` appended, unless it ends with it already. */
export function withPath(url: string, path: string): string {
  const target = new URL(url);
  const own = target.pathname.replace(/\/+$/, "");
  target.pathname = own.endsWith(path) ? own : `${own}${path}`;
  return target.href;
}

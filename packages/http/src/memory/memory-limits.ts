import { ServiceError } from "@coffer/errors";
import type { Telemetry } from "@coffer/telemetry";
import { createMemoryBudget, type Excess, type Share } from "./memory-budget.ts";

const mebibyte = 1024 * 1024;
/**
 * Of the process, which has 512 MiB in a container: about 150 MiB without requests, a quarter more
 * for small shares, and the rest for one parsed body and what is not yet collected.
 */
const bodies = createMemoryBudget(128 * mebibyte);
const answers = createMemoryBudget(96 * mebibyte);
/** What a long list holds at most: a part of 2 MiB in memory, and the text of one item. */
const largeAnswerBytes = 4 * mebibyte;
const retryAfterSeconds = 5;
/** Even a phone at the edge of its network takes something in this time. */
const defaultPatienceMilliseconds = 30_000;

type Kind = "bodies" | "answers";

/** The memory of one request's body, or of its answer. */
export interface Memory extends Omit<Share, "take"> {
  /** Counts bytes. Returns the refusal if they are too many. */
  take(bytes: number): ServiceError | undefined;
}

export interface BodyMemory extends Memory {
  /** The refusal of a body in too many chunks. */
  tooManyChunks(): ServiceError;
}

export interface AnswerMemory extends Memory {
  /** How long a reader may take nothing. */
  readonly patienceMilliseconds: number;
  /** Counts a response that was ended because its reader took nothing. */
  unread(): void;
}

/** The limits of the process for answers that wait for their reader. */
export interface AnswerLimits {
  /** The memory of an answer to this address. */
  openAnswer(ip: string): AnswerMemory;
  /** Throws ServiceError for an address with so many unread answers that a large one has no room. */
  requireReader(ip: string): void;
}

export interface MemoryLimits extends AnswerLimits {
  openBody(ip: string): BodyMemory;
}

/**
 * The limits of what all apps of the process hold in memory for callers: bodies that are being
 * received or processed, and answers that wait for their reader.
 */
export function createMemoryLimits(
  { metrics }: Telemetry,
  patienceMilliseconds = defaultPatienceMilliseconds,
): MemoryLimits {
  const refusals = metrics.counter(
    "coffer_http_refusals_total",
    "Requests refused, or responses ended, because of the memory or time that they cost",
    ["reason"],
  );

  function refusalOf(kind: Kind, excess: Excess | undefined): ServiceError | undefined {
    if (excess === undefined) return undefined;
    refusals.inc({ reason: `${kind}_of_${excess}` });
    return excess === "address"
      ? new ServiceError("rate_limited", `too many large ${kind} of this address at a time: try again later`, {
          retryAfterSeconds,
        })
      : new ServiceError("unavailable", `too many large ${kind} at a time: try again later`, { retryAfterSeconds });
  }

  function memoryOf(kind: Kind, share: Share): Memory {
    return { ...share, take: (bytes) => refusalOf(kind, share.take(bytes)) };
  }

  return {
    openBody: (ip) => ({
      ...memoryOf("bodies", bodies.open(ip)),
      tooManyChunks: () => {
        refusals.inc({ reason: "chunks" });
        return new ServiceError("invalid_request", "the body comes in too many small chunks: send larger ones");
      },
    }),
    openAnswer: (ip) => ({
      ...memoryOf("answers", answers.open(ip)),
      patienceMilliseconds,
      unread: () => refusals.inc({ reason: "unread" }),
    }),
    requireReader: (ip) => {
      const refusal = refusalOf("answers", answers.excessWith(ip, largeAnswerBytes));
      if (refusal !== undefined) throw refusal;
    },
  };
}

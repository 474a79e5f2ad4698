import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "@coffer/testkit";
import { type Answer, newRequestId, type Question, send as sendOnce } from "./caller.ts";
import type { Deed, Ledger } from "./ledger.ts";

/** A user of an organization until it is stopped. */
export interface Worker {
  name: string;
  url: string;
  ledger: Ledger;
  random: Random;
  stopping: AbortSignal;
}

/** Leaves CPU time for the servers. */
const paceMilliseconds = 15;

/** Allowed statuses during faults: no response, or 503. */
const away = new Set([0, 503]);

export function goesOn({ stopping }: Worker): boolean {
  return !stopping.aborted;
}

/** Pauses as after an acknowledged request. */
export async function rest(): Promise<void> {
  await pause(paceMilliseconds);
}

/** Sends once; counts as an attempt of `deed`, if given. */
export async function send(worker: Worker, question: Question, deed?: Deed): Promise<Answer> {
  const attempt = { requestId: newRequestId(), status: 0 };
  deed?.attempts.push(attempt);
  const answer = await sendOnce(worker.url, { ...question, requestId: attempt.requestId });
  attempt.status = answer.status;
  const good = answer.status >= 200 && answer.status < 300;
  if (good && deed !== undefined) acknowledge(worker, deed);
  // A test that ends before its load does not wait for the worker.
  await pause(good ? paceMilliseconds : paceMilliseconds * 3, undefined, { ref: false });
  return answer;
}

/**
 * Repeats a request until it is answered, also when the load ends meanwhile: a compared action must not be
 * in progress. Undefined after the limit.
 */
export async function insist(
  worker: Worker,
  question: () => Question,
  deed?: Deed,
  milliseconds = 60_000,
): Promise<Answer | undefined> {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    const answer = await send(worker, question(), deed);
    if (!away.has(answer.status)) return answer;
  }
  return undefined;
}

/** The request, sometimes with a short timeout, so that its response is lost. */
export function hastily({ random }: Worker, question: Question): Question {
  return random.below(4) === 0 ? { ...question, milliseconds: 2 ** random.below(7) } : question;
}

/** Records that an action is certainly done. */
export function acknowledge({ name, ledger: { acknowledged } }: Worker, deed: Deed): void {
  deed.acknowledged = true;
  acknowledged.set(name, (acknowledged.get(name) ?? 0) + 1);
}

/** Records a wrong response that the faults do not explain. */
export function complain({ name, ledger }: Worker, what: string, { status }: Answer): void {
  if (!away.has(status)) ledger.violations.push(`${name}: ${what} was answered ${status}`);
}

import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Question } from "./caller.ts";
import { ask, newRequestId } from "./caller.ts";
import type { Deed, Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";

/** Somebody who uses an organization until told to stop. */
export interface Worker {
  name: string;
  url: string;
  ledger: Ledger;
  random: Random;
  stopping: AbortSignal;
}

/** So that the load leaves something of the machine to what is loaded. */
const paceMilliseconds = 15;

/** What may be answered while parts are away: done, or not now. */
const away = new Set([0, 503]);

export function goesOn({ stopping }: Worker): boolean {
  return !stopping.aborted;
}

/** Waits for as long as after a request that was acknowledged. */
export async function rest(): Promise<void> {
  await pause(paceMilliseconds);
}

/** Asks once; an attempt at `deed`, where there is one. */
export async function send(worker: Worker, question: Question, deed?: Deed): Promise<Answer> {
  const attempt = { requestId: newRequestId(), status: 0 };
  deed?.attempts.push(attempt);
  const answer = await ask(worker.url, { ...question, requestId: attempt.requestId });
  attempt.status = answer.status;
  const good = answer.status >= 200 && answer.status < 300;
  if (good && deed !== undefined) acknowledge(worker, deed);
  // Nothing waits for a worker of a test that has ended before its load.
  await pause(good ? paceMilliseconds : paceMilliseconds * 3, undefined, { ref: false });
  return answer;
}

/**
 * Asks the same until it is answered, as whoever has lost an answer does, also when the load ends meanwhile: what is
 * compared with the audit must not be under way. Undefined when it takes too long.
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

/** The question, whose answer is lost now and then because nobody waits for it. */
export function hastily({ random }: Worker, question: Question): Question {
  return random.below(4) === 0 ? { ...question, milliseconds: 2 ** random.below(7) } : question;
}

/** Notes that a deed is known to be done. */
export function acknowledge({ name, ledger: { acknowledged } }: Worker, deed: Deed): void {
  deed.acknowledged = true;
  acknowledged.set(name, (acknowledged.get(name) ?? 0) + 1);
}

/** Notes an answer other than the one that was due, when nothing that may be away explains it. */
export function complain({ name, ledger }: Worker, what: string, { status }: Answer): void {
  if (!away.has(status)) ledger.violations.push(`${name}: ${what} was answered ${status}`);
}

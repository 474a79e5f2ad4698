import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Caller } from "./caller.ts";
import { ask, newRequestId } from "./caller.ts";
import type { Attempt, Ledger, Slot, Write } from "./ledger.ts";
import { isAcknowledged, isReadable, lastAcknowledged } from "./ledger.ts";
import type { Random } from "./random.ts";

export interface Worker {
  name: string;
  url: string;
  caller: Caller;
  ledger: Ledger;
  random: Random;
  stopping: AbortSignal;
}

/** So that the load leaves something of the machine to what is loaded. */
const paceMilliseconds = 15;

/** What may be answered while parts are away: done, or not now. */
const away = new Set([0, 503]);

/** Makes secrets, changes them and removes some, until it is told to stop. */
export async function write(worker: Worker): Promise<void> {
  const { caller, ledger, random } = worker;
  while (goesOn(worker)) {
    const slot: Slot = { uid: newUid(), writes: [] };
    ledger.slots.push(slot);
    const made = await attempt(worker, slot, "secret.created", (content) => ({
      method: "POST",
      path: caller.list,
      body: { ...bodyOf(slot.uid, content), ...caller.creates, uid: slot.uid, record_type: "note" },
    }));
    // Whether it was made is seen in the end; nobody writes to it any more.
    if (!made) continue;
    for (let left = 1 + random.below(6); left > 0 && goesOn(worker); left -= 1)
      await attempt(worker, slot, "secret.updated", (content) => ({
        method: "PUT",
        path: caller.secret(slot.uid),
        body: bodyOf(slot.uid, content),
      }));
    if (random.below(2) === 0)
      await attempt(worker, slot, "secret.deleted", () => ({ method: "DELETE", path: caller.secret(slot.uid) }));
  }
}

/** Reads what is there, whole secrets, single fields and lists, until it is told to stop. */
export async function read(worker: Worker): Promise<void> {
  const { ledger, random } = worker;
  while (goesOn(worker)) {
    const slots = ledger.slots.filter(isReadable);
    if (slots.length === 0) await pause(paceMilliseconds);
    else if (random.below(20) === 0) await readList(worker);
    else await readOne(worker, random.one(slots), random.below(3) === 0);
  }
}

async function readOne(worker: Worker, slot: Slot, field: boolean): Promise<void> {
  const { caller, ledger } = worker;
  const single = field && caller.kind === "machine";
  const floor = lastAcknowledged(slot);
  const path = caller.secret(slot.uid) + (single ? "/fields/value" : "");
  const action = single ? "secret.field.read" : "secret.read";
  const { status, body } = await send(
    worker,
    { requestId: newRequestId(), action, uid: slot.uid, status: 0 },
    { method: "GET", path },
  );
  if (status === 404 && !isReadable(slot)) return;
  if (status !== 200) {
    complain(worker, `${action} of ${slot.uid}`, status);
    return;
  }
  const content = single ? body["value_encrypted"] : body["data_encrypted"];
  const at = slot.writes.findIndex((each) => each.content === content);
  if (at < floor)
    ledger.violations.push(`${worker.name} read write ${at} of ${slot.uid} after write ${floor} was acknowledged`);
}

async function readList(worker: Worker): Promise<void> {
  const question = { method: "GET", path: worker.caller.list } as const;
  const { status } = await send(
    worker,
    { requestId: newRequestId(), action: "secret.listed", uid: null, status: 0 },
    question,
  );
  if (status !== 200) complain(worker, "a list", status);
}

interface Question {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: object;
}

/** One write; returns whether it was acknowledged. */
async function attempt(
  worker: Worker,
  slot: Slot,
  action: string,
  question: (content: string) => Question,
): Promise<boolean> {
  const content = Buffer.from(`${slot.uid} ${slot.writes.length}`).toString("base64");
  const removes = action === "secret.deleted";
  const noted: Write = {
    requestId: newRequestId(),
    action,
    uid: slot.uid,
    status: 0,
    content: removes ? null : content,
  };
  slot.writes.push(noted);
  await send(worker, noted, question(content));
  const done = isAcknowledged(noted);
  if (!done) complain(worker, `${action} of ${slot.uid}`, noted.status);
  return done;
}

async function send({ name, url, caller, ledger }: Worker, noted: Attempt, question: Question): Promise<Answer> {
  ledger.attempts.push(noted);
  const answer = await ask(url, { ...question, requestId: noted.requestId, bearer: caller.bearer() });
  noted.status = answer.status;
  if (isAcknowledged(noted)) ledger.acknowledged.set(name, (ledger.acknowledged.get(name) ?? 0) + 1);
  await pause(isAcknowledged(noted) ? paceMilliseconds : paceMilliseconds * 3);
  return answer;
}

function complain({ name, ledger }: Worker, what: string, status: number): void {
  if (!away.has(status)) ledger.violations.push(`${name}: ${what} was answered ${status}`);
}

function goesOn({ stopping }: Worker): boolean {
  return !stopping.aborted;
}

/** What a client would seal: to the service any bytes are. */
function bodyOf(uid: string, content: string): Record<string, unknown> {
  return { encrypted_payload: content, wrapped_dek: content, title: `fault ${uid}`, fields: { value: content } };
}

/** 22 base64url characters that do not begin with a dash. */
function newUid(): string {
  const uid = randomBytes(16).toString("base64url");
  return uid.startsWith("-") ? newUid() : uid;
}

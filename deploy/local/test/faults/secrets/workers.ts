import { randomBytes } from "node:crypto";
import type { Caller, Question } from "../caller.ts";
import { newDeed } from "../ledger.ts";
import { complain, goesOn, rest, send, type Worker } from "../worker.ts";
import { isReadable, lastAcknowledged, type Slot, type Write } from "./slot.ts";

export interface SecretsWorker extends Worker {
  caller: Caller;
  /** The secrets of the organization. */
  slots: Slot[];
}

/** Makes, changes and removes secrets, until it is stopped. */
export async function write(worker: SecretsWorker): Promise<void> {
  const { caller, slots, random } = worker;
  while (goesOn(worker)) {
    const slot: Slot = { uid: newUid(), writes: [] };
    slots.push(slot);
    const made = await attempt(worker, slot, "secret.created", (content) => ({
      method: "POST",
      path: caller.list,
      body: { ...bodyOf(slot.uid, content), ...caller.creates, uid: slot.uid, record_type: "note" },
    }));
    // Whether it exists is checked at the end; it is not written again.
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

/** Reads secrets, single fields and lists, until it is stopped. */
export async function read(worker: SecretsWorker): Promise<void> {
  const { slots, random } = worker;
  while (goesOn(worker)) {
    const readable = slots.filter(isReadable);
    if (readable.length === 0) await rest();
    else if (random.below(20) === 0) await readList(worker);
    else await readOne(worker, random.pick(readable), random.below(3) === 0);
  }
}

async function readOne(worker: SecretsWorker, slot: Slot, field: boolean): Promise<void> {
  const { caller, ledger } = worker;
  const single = field && caller.kind === "machine";
  const floor = lastAcknowledged(slot);
  const path = caller.secret(slot.uid) + (single ? "/fields/value" : "");
  const action = single ? "secret.field.read" : "secret.read";
  const question = { method: "GET", path, bearer: caller.bearer() } as const;
  const answer = await send(worker, question, newDeed(ledger, action, slot.uid));
  const { status, body } = answer;
  if (status === 404 && !isReadable(slot)) return;
  if (status !== 200) {
    complain(worker, `${action} of ${slot.uid}`, answer);
    return;
  }
  const content = single ? body["value_encrypted"] : body["data_encrypted"];
  const at = slot.writes.findIndex((each) => each.content === content);
  if (at < floor)
    ledger.violations.push(`${worker.name} read write ${at} of ${slot.uid} after write ${floor} was acknowledged`);
}

async function readList(worker: SecretsWorker): Promise<void> {
  const { caller, ledger } = worker;
  const question = { method: "GET", path: caller.list, bearer: caller.bearer() } as const;
  const answer = await send(worker, question, newDeed(ledger, "secret.listed", null));
  if (answer.status !== 200) complain(worker, "a list", answer);
}

/** One write; returns whether it was acknowledged. */
async function attempt(
  worker: SecretsWorker,
  slot: Slot,
  action: string,
  question: (content: string) => Question,
): Promise<boolean> {
  const content = Buffer.from(`${slot.uid} ${slot.writes.length}`).toString("base64");
  const deed = newDeed(worker.ledger, action, slot.uid);
  const noted: Write = Object.assign(deed, { content: action === "secret.deleted" ? null : content });
  slot.writes.push(noted);
  const answer = await send(worker, { ...question(content), bearer: worker.caller.bearer() }, noted);
  if (!noted.acknowledged) complain(worker, `${action} of ${slot.uid}`, answer);
  return noted.acknowledged;
}

/** Looks like ciphertext. */
export function bodyOf(uid: string, content: string): Record<string, unknown> {
  return { encrypted_payload: content, wrapped_dek: content, title: `fault ${uid}`, fields: { value: content } };
}

/** 22 base64url characters that do not begin with a dash. */
export function newUid(): string {
  const uid = randomBytes(16).toString("base64url");
  return uid.startsWith("-") ? newUid() : uid;
}

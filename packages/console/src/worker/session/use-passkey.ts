import { encodeBase64Url } from "@coffer/crypto";
import type { Calls } from "../../protocol/calls.ts";
import { enter } from "./enter-leave.ts";
import { Refusal } from "../failure.ts";
import { checkPassword } from "./password.ts";
import type { ConsoleSession } from "./session.ts";
import { clearReplica } from "../workspace.ts";

type Input<Name extends keyof Calls> = Parameters<Calls[Name]>[0];

export async function unlockPasskey(session: ConsoleSession, answer: Input<"unlockPasskey">): Promise<null> {
  const { turn } = session;
  const kept = await session.passkeys.open(answer);
  if (kept === null) throw new Refusal("passkey_refused");
  const { open, user } = session;
  // A locked session waits for its own person.
  if (open !== undefined || turn !== session.turn || (user ?? kept.session.user).id !== kept.session.user.id)
    throw new Refusal("locked");
  await enter(session, kept.session, kept.key);
  return null;
}

/** The salt with which the browser asks a new passkey for its key. */
export async function startPasskey(session: ConsoleSession, password: string): Promise<{ salt: string }> {
  const open = await checkPassword(session, password);
  open.salt = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  return { salt: open.salt };
}

export async function addPasskey(session: ConsoleSession, { id, prf, name }: Input<"addPasskey">): Promise<null> {
  const { open } = session;
  if (open?.salt === undefined) throw new Refusal("locked");
  const { salt, keeper } = open;
  open.salt = undefined;
  await session.passkeys.add({ id, prf, salt, name: name.slice(0, 64) }, async () => {
    const person = await keeper.current();
    return session.open === open ? { session: person, key: open.key } : null;
  });
  return null;
}

/** Removes the person's passkey; signed out, all passkeys of this browser. */
export async function removePasskeys({ locked, user, passkeys }: ConsoleSession): Promise<null> {
  if (locked !== undefined) throw new Refusal("locked");
  const ids = user === null ? passkeys.persons() : [user.id];
  await passkeys.remove(ids);
  if (user === null) await Promise.all(ids.map(clearReplica));
  return null;
}

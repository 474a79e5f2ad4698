import { createDecipheriv } from "node:crypto";
import { contexts, decodeBase64 } from "@coffer/crypto";
import { hashOf, isEntry } from "./attacker.ts";
import { byPublicKey, type Oracle } from "./oracle.ts";
import type { World } from "./world.ts";

/**
 * Gives the operator the keys of its accomplices: all keys of Mallory, Rita, Eve and the stolen machine, the
 * folders' keys from before the rotations, and each DEK that those keys open.
 */
export async function collude(world: World, { known, hostile, genuine }: Oracle): Promise<void> {
  const { attacker, people, machines, oldKeys, folders, wire } = world;
  const privateKeys = [
    attacker.privateKey,
    ...[people.mallory, people.rita, people.eve].map(({ privateKey }) => privateKey),
    ...[machines.stolen, machines.eves].map(({ configuration }) => decodeBase64(configuration.private_key)),
  ];
  for (const [publicKey, privateKey] of await byPublicKey(privateKeys)) hostile.set(publicKey, privateKey);
  known.set("a folder key of the attacker", attacker.key);
  known.set("a DEK of the attacker", attacker.dek);
  for (const { name, session } of [people.mallory, people.rita, people.eve])
    known.set(`the user key of ${name}`, decodeBase64(session.user_key));
  known.set("the old key of production", oldKeys.production);
  known.set("the old key of staging", oldKeys.staging);
  known.set("the old key of the team's vault", oldKeys.team);
  for (const { id, key } of machines.eves.configuration.folders)
    if (key !== null) known.set(`Eve's key of ${id === folders.eves ? "production" : id}`, decodeBase64(key));
  for (const { from, answer } of wire.exchanges)
    for (const value of objectsIn(answer.body)) {
      for (const text of Object.values(value).flat())
        if (isEntry(text) && from !== people.eve.name) genuine.add(await hashOf(text));
      const { uid, wrapped_dek: wrapped } = value;
      if (typeof uid !== "string" || typeof wrapped !== "string") continue;
      for (const key of [oldKeys.production, oldKeys.staging]) {
        const dek = opened(key, wrapped, contexts.dek(uid));
        if (dek !== undefined) known.set(`an old DEK of ${uid}`, dek);
      }
    }
}

/** Every object of an answer. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inside : [value as Record<string, unknown>, ...inside];
}

function opened(key: Uint8Array, text: string, context: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64").subarray(1);
  const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  cipher.setAAD(Buffer.from(context));
  cipher.setAuthTag(bytes.subarray(-16));
  const plain = cipher.update(bytes.subarray(12, -16));
  try {
    cipher.final();
    return new Uint8Array(plain);
  } catch {
    return undefined;
  }
}

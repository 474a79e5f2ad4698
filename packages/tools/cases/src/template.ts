import { randomBytes, randomUUID } from "node:crypto";
import { contexts, newKey, newSecretUid, seal } from "@coffer/crypto";
import { rightToken, signToken } from "./jwt.ts";
import type { Machine } from "./machine.ts";
import type { OwnerKey } from "./owner.ts";
import { publicKeyIn } from "./public-keys.ts";
import { type MadeSecret, sealRotation } from "./rotation.ts";
import { type FolderKey, sealSecret } from "./seal.ts";

/** The names that a case can use. */
export type Scope = Record<string, unknown>;

type Generator = (argument: unknown, scope: Scope) => unknown;

/** The generators of `{"$name": …}`. */
const generators: Record<string, Generator> = {
  /** Unix seconds, this many from now. */
  $now: (seconds) => Math.floor(Date.now() / 1000) + Number(seconds),
  /** A timestamp this many seconds from now. */
  $time: (seconds) => new Date(Date.now() + Number(seconds) * 1000).toISOString(),
  $uuid: () => randomUUID(),
  $uid: () => newSecretUid(),
  /** base64 of this many random bytes. */
  $random: (bytes) => randomBytes(Number(bytes)).toString("base64"),
  /** A repeated text. */
  $repeat: (of) => {
    const [text, times] = of as [string, number];
    return text.repeat(times);
  },
  /** A list of repeated values. */
  $copies: (of) => {
    const [value, times] = of as [unknown, number];
    return Array.from({ length: times }, () => value);
  },
  $upper: (text) => String(text).toUpperCase(),
  $join: (parts) => (parts as unknown[]).map(String).join(""),
  /** This many fields with a ciphertext each. */
  $fields: (count) =>
    Object.fromEntries(
      Array.from({ length: Number(count) }, (_, at) => [`field ${at}`, randomBytes(32).toString("base64")]),
    ),
  $public_key: (form) => publicKeyIn(String(form)),
  /** A folder's key, sealed to a machine's public key. */
  $sealed_key: (argument, scope) => {
    const { folder, machine } = argument as { folder: string; machine: string };
    const { id, key } = scope[folder] as FolderKey;
    return seal((scope[machine] as Machine).public_key, key, contexts.sharedFolderKey(id));
  },
  /** A folder with another key than its own. */
  $other_key: (alias, scope) => ({ ...(scope[String(alias)] as FolderKey), key: newKey() }),
  /** The body that rotates a folder. */
  $rotation: (argument, scope) => {
    const { from, to, key_version, machines, secrets, payloads = false } = argument as RotationArgument;
    return sealRotation({
      from: scope[from] as FolderKey,
      to: scope[to] as FolderKey,
      keyVersion: key_version,
      owner: (scope["org"] as { owner: OwnerKey }).owner,
      machines: machines.map((alias) => scope[alias] as Machine),
      secrets: secrets.map((alias) => scope[alias] as MadeSecret),
      payloads,
    });
  },
  /** The valid token of a machine. */
  $token: (alias, scope) => signToken(scope[String(alias)] as Machine, String(scope["audience"]), rightToken),
};

/**
 * Evaluates a value of a case: names in `${…}`, generators, and `{"$secret": …}`, the body that makes
 * or replaces a secret; members beside `$secret` replace sealed ones, and null removes one. Throws a
 * TypeError for an unknown name.
 */
export async function evaluate(value: unknown, scope: Scope): Promise<unknown> {
  if (typeof value === "string") return fill(value, scope);
  if (Array.isArray(value)) return Promise.all(value.map((item) => evaluate(item, scope)));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  const [first] = members;
  if (first !== undefined && members.length === 1) {
    const generator = generators[first[0]];
    if (generator !== undefined) return generator(await evaluate(first[1], scope), scope);
  }
  const evaluated = await Promise.all(
    members.map(async ([name, item]) => [name, await evaluate(item, scope)] as const),
  );
  const { $secret, ...instead } = Object.fromEntries(evaluated);
  if ($secret === undefined) return Object.fromEntries(evaluated);
  const sealed = await sealed$(($secret ?? {}) as SecretArgument, scope);
  return Object.fromEntries(Object.entries({ ...sealed, ...instead }).filter(([, item]) => item !== null));
}

interface RotationArgument {
  from: string;
  to: string;
  key_version: number;
  machines: string[];
  secrets: string[];
  payloads?: boolean;
}

interface SecretArgument {
  folder: string;
  uid?: string;
  title?: string;
  type?: string;
  name?: string;
  fields?: Record<string, string>;
}

async function sealed$(secret: SecretArgument, scope: Scope): Promise<Record<string, unknown>> {
  const folder = scope[secret.folder] as FolderKey | undefined;
  if (folder === undefined) throw new TypeError(`the case was given no folder ${secret.folder}`);
  const { type = "api_credential", name = "a secret", fields = {}, title, uid = newSecretUid() } = secret;
  const sealed = await sealSecret(folder, { uid, title, name, fields });
  return { uid, folder_id: folder.id, record_type: type, ...(title === undefined ? {} : { title }), ...sealed };
}

/** `${a.b}` alone has the type of its value; within a text it becomes text. */
function fill(text: string, scope: Scope): unknown {
  const whole = /^\$\{([\w.]+)\}$/.exec(text);
  if (whole?.[1] !== undefined) return lookUp(whole[1], scope);
  return text.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => String(lookUp(path, scope)));
}

/** The value at a path of names. Throws a TypeError for an unknown name. */
export function lookUp(path: string, scope: unknown): unknown {
  let found: unknown = scope;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !(name in found))
      throw new TypeError(`the case speaks of ${path}, which is not there`);
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

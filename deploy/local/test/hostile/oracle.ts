import { createDecipheriv } from "node:crypto";
import { type Context, contexts, keyCheck, openSealed, publicKeyOf } from "@coffer/crypto";
import type { Claims, Holder, Resource } from "@coffer/history";
import { CofferError } from "@coffer/sdk";
import { claimsOf, hashOf, isEntry, mark } from "./attacker.ts";
import { documentedCodes } from "./documented-codes.ts";
import type { Truth } from "./truth.ts";
import type { Request } from "./wire.ts";

/** The output of a client, also to a program. */
export type Said =
  | { kind: "value"; folder: string; title: string; field: string; value: string }
  | { kind: "name"; res: string; name: string }
  | { kind: "key"; who: string; publicKey: string }
  | { kind: "text"; text: string };

export interface Oracle {
  /** The keys of the operator: folder keys, vault keys and DEKs. */
  readonly known: Map<string, Uint8Array>;
  /** The private keys of the operator, by public key. */
  readonly hostile: Map<string, Uint8Array>;
  /** Records a request of an honest client for `verdict`. */
  overhear(request: Request): void;
  /** Records a response: a returned value was not encrypted by the client. */
  given(body: unknown): void;
  /** Checks the requests since the last call, and their results. Returns the problems. */
  verdict(outcome: Outcome): Promise<string[]>;
  /** Hashes of entries that honest clients sent, and of stored ones. */
  readonly genuine: Set<string>;
}

export interface Outcome {
  said?: readonly Said[];
  error?: unknown;
  /** Of a client that does not end. */
  hangs?: boolean;
  /** The present pins of the client: history → hash. */
  pins?: ReadonlyMap<string, string>;
}

export function createOracle(truth: Truth): Oracle {
  let recorded: Request[] = [];
  const known = new Map<string, Uint8Array>();
  const hostile = new Map<string, Uint8Array>();
  const genuine = new Set<string>();
  const given = new Set<string>();
  return {
    given(body) {
      for (const { value } of stringsIn(body, [])) if (value.length >= shortestBox) given.add(value);
    },
    known,
    hostile,
    genuine,
    overhear: (request) => void recorded.push(request),
    async verdict({ said = [], error, hangs = false, pins = new Map<string, string>() }) {
      const requests = recorded;
      recorded = [];
      const problems: string[] = [];
      for (const request of requests)
        problems.push(...(await sentProblems(request, { truth, known, hostile, genuine, given })));
      for (const one of said) problems.push(...saidProblems(one, truth));
      if (hangs) problems.push("it does not end");
      if (error !== undefined) problems.push(...errorProblems(error));
      for (const [res, hash] of pins)
        if (!genuine.has(hash)) problems.push(`it trusts an entry of ${res} that no honest actor signed`);
      return problems;
    },
  };
}

function errorProblems(error: unknown): string[] {
  if (!(error instanceof CofferError)) return [`it fails with no error of Coffer: ${String(error)}`];
  const problems = documentedCodes.has(error.code) ? [] : [`its error ${error.code} is not documented`];
  return error.message.includes(mark) && error.code === "not_accepted"
    ? [...problems, `an offer under a forged name: ${error.message}`]
    : problems;
}

function saidProblems(said: Said, truth: Truth): string[] {
  switch (said.kind) {
    case "value":
      return truth.isValue(said.folder, said.title, said.field, said.value)
        ? []
        : [`it says that ${said.folder}/${said.title}/${said.field} is "${said.value}"`];
    case "name":
      return truth.isName(said.res, said.name) ? [] : [`it calls ${said.res} "${said.name}"`];
    case "key":
      return truth.keysOf(said.who).has(said.publicKey) ? [] : [`it shows another key of ${said.who}`];
    case "text":
      return said.text.includes(mark) ? [`it says "${said.text}"`] : [];
  }
}

interface Facts {
  truth: Truth;
  known: Map<string, Uint8Array>;
  hostile: Map<string, Uint8Array>;
  genuine: Set<string>;
  given: ReadonlySet<string>;
}

/** Characters of the base64 of an empty box. */
const shortestBox = 38;

async function sentProblems(request: Request, facts: Facts): Promise<string[]> {
  const text = `${request.path}${request.query} ${JSON.stringify(request.body ?? null)}`;
  const problems = [...facts.truth.secrets]
    .filter((secret) => text.includes(secret))
    .map((secret) => `in the clear: ${secret}`);
  for (const sent of stringsIn(request.body, [request.path.split("/")])) {
    if (isEntry(sent.value)) problems.push(...(await entryProblems(sent.value, facts)));
    else if (sent.value.split(".").length === 5) problems.push(...(await sealedProblems(sent, facts)));
    else problems.push(...boxProblems(sent, facts));
  }
  return problems.map((problem) => `${request.from}: ${request.method} ${request.path}: ${problem}`);
}

/** The ids of a string: of its objects, and of the path. */
type Around = readonly string[][];

interface Sent {
  value: string;
  /** The name of its member. */
  name: string;
  around: Around;
}

function stringsIn(value: unknown, around: Around, name = ""): Sent[] {
  if (typeof value === "string") return [{ value, name, around }];
  if (typeof value !== "object" || value === null) return [];
  const own = Object.values(value).filter((one): one is string => typeof one === "string" && one.length <= 64);
  return Object.entries(value).flatMap(([member, one]) => stringsIn(one, [...around, own], member));
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
const isUid = (text: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_-]{20}[AQgw]$/.test(text);

/** Every context that a ciphertext in this place can have. */
function contextsOf(name: string, around: Around): Context[] {
  const all = [...new Set(around.flat())];
  const ids = all.filter(isUuid);
  const uids = all.filter(isUid);
  return [
    ...ids.flatMap((id) => [
      contexts.sharedFolderKey(id),
      contexts.folderKey(id),
      contexts.vaultKey(id),
      contexts.ownVaultKey(id),
    ]),
    ...ids.flatMap((vault) => ids.map((record) => contexts.record(vault, record))),
    ...uids.flatMap((uid) => [contexts.data(uid), contexts.dek(uid), contexts.title(uid)]),
    ...uids.map((uid) => contexts.field(uid, name)),
  ];
}

function boxProblems({ value, name, around }: Sent, { known, given }: Facts): string[] {
  if (value.length < shortestBox || given.has(value) || !/^[A-Za-z0-9+/]+=*$/.test(value)) return [];
  const bytes = Buffer.from(value, "base64");
  const additional = [...contextsOf(name, around).map((context) => Buffer.from(context)), null];
  for (const [whose, key] of known)
    for (const context of additional)
      if (opens(key, context === null ? bytes : bytes.subarray(1), context))
        return [`encrypted under ${whose} (${context?.toString() ?? "the bare layout"})`];
  return [];
}

/** Whether AES-256-GCM authenticates `nonce ‖ ciphertext ‖ tag`. */
function opens(key: Uint8Array, bytes: Buffer, additional: Buffer | null): boolean {
  if (bytes.length < 28) return false;
  const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  if (additional !== null) cipher.setAAD(additional);
  cipher.setAuthTag(bytes.subarray(-16));
  cipher.update(bytes.subarray(12, -16));
  try {
    cipher.final();
    return true;
  } catch {
    return false;
  }
}

/** A key that is sealed to a public key. */
async function sealedProblems({ value, around }: Sent, { truth, known, hostile }: Facts): Promise<string[]> {
  const ctx = contextOf(value);
  const [, , kind = "", id = ""] = ctx.split("/");
  const res = `${kind === "fk" ? "folder" : "vault"}:${id}`;
  if (!around.flat().includes(id)) return [`sealed as ${ctx}, which the request is not about`];
  for (const [publicKey, privateKey] of [...truth.privateKeys, ...hostile]) {
    const opened = await openSealed(privateKey, value, ctx as Context).catch(() => undefined);
    if (opened === undefined) continue;
    for (const [name, key] of known) if (Buffer.from(key).equals(opened)) return [`${name} is sealed for a holder`];
    if (!hostile.has(publicKey) || truth.colluding.has(`${res}|${publicKey}`)) return [];
    return [`the key of ${res} is sealed to a key of the attacker`];
  }
  return ["a key is sealed to a public key that no honest actor has"];
}

function contextOf(jwe: string): string {
  try {
    const { ctx } = JSON.parse(Buffer.from(jwe.split(".")[0] ?? "", "base64url").toString()) as { ctx?: unknown };
    return typeof ctx === "string" ? ctx : "";
  } catch {
    return "";
  }
}

/** An entry that an honest client has signed: its holders, their keys, and its check value. */
async function entryProblems(entry: string, { truth, known, hostile, genuine }: Facts): Promise<string[]> {
  genuine.add(await hashOf(entry));
  const claims = claimsOf(entry);
  const stray = claims.prev !== null && !genuine.has(claims.prev);
  const problems = stray ? [`an entry of ${claims.res} follows one that no honest actor has signed`] : [];
  problems.push(...(claims.set ?? []).flatMap((holder) => holderProblems(claims, holder, truth, hostile)));
  for (const [seq, hash] of Object.values(claims.cut ?? {}))
    if (!genuine.has(hash)) problems.push(`a cut at entry ${seq} of a history that no honest actor has signed`);
  for (const invitation of claims.invite ?? []) {
    if (hostile.has(invitation.join_key)) problems.push("an invitation with a join key of the attacker");
    const context = contexts.join(claims.res, claims.seq, claims.prev);
    for (const [name, key] of known)
      if (opens(key, Buffer.from(invitation.sealed, "base64").subarray(1), Buffer.from(context)))
        problems.push(`an invitation sealed under ${name}`);
  }
  if (claims.check !== undefined && claims.ver !== undefined)
    for (const [name, key] of known)
      if ((await keyCheck(key, claims.res, claims.ver)) === claims.check)
        problems.push(`an entry makes ${name} the key`);
  if (claims.name?.includes(mark) === true) problems.push("an entry gives a name that the attacker chose");
  return problems;
}

function holderProblems(
  { res, seq, by }: Claims,
  { who, key, perm }: Holder,
  truth: Truth,
  hostile: Facts["hostile"],
): string[] {
  // A founder names itself; a newcomer whose registration failed is only known by that.
  if (seq === 0 && who === by && !hostile.has(key)) return [];
  if (!truth.keysOf(who).has(key)) return [`an entry of ${res} names ${who} with a key that is not theirs`];
  // Each member of an organization may read; invited ones are in its managers' entries.
  if ((isOrganization(res) && perm === "read") || truth.grantsOf(res, who).has(perm)) return [];
  return [`an entry of ${res} gives ${who} the permission ${perm}, which no manager gave`];
}

const isOrganization = (res: Resource): boolean => res.startsWith("org:");

/** The public keys of these private keys. */
export async function byPublicKey(privateKeys: readonly Uint8Array[]): Promise<[string, Uint8Array][]> {
  return Promise.all(privateKeys.map(async (key): Promise<[string, Uint8Array]> => [await publicKeyOf(key), key]));
}

import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import type { Permission } from "@coffer/contract";
import { newKeyPair, readAccessToken, readInviteToken, newAccessToken, newInviteToken } from "@coffer/crypto";
import {
  type Change,
  extendAll,
  type HistoryState,
  type Holder,
  type Invitation,
  makeInvitation,
  openInvitation,
  type Resource,
  sign,
  type SignerId,
} from "@coffer/history";
import { type Answer, call } from "./call.ts";
import { bearer, createApplication, type Machine } from "./machines.ts";
import { invite } from "./members.ts";
import { finishedRegistration, newEmail, type Person, sealed } from "./people.ts";

type Service = { url: string };

/** A person whose private key the test has, and the organization in which the person acts. */
export interface Signer extends Person {
  publicKey: string;
  privateKey: Uint8Array;
  orgId: string;
}

/** What a person is in a folder's history. */
export const holder = ({ userId, publicKey }: Pick<Signer, "userId" | "publicKey">, perm: Permission): Holder => ({
  who: `user:${userId}`,
  key: publicKey,
  perm,
});
/** What a person is in the organization's history. */
export const memberHolder = (person: Pick<Signer, "userId" | "publicKey" | "email">, perm: Permission): Holder => ({
  ...holder(person, perm),
  email: person.email,
});
/** What a machine is in a folder's history. */
export const clientHolder = (machine: JoiningMachine, perm: "read" | "write"): Holder => ({
  who: `client:${machine.clientId}`,
  key: machine.publicKey,
  perm,
});
export const orgRes = (orgId: string): Resource => `org:${orgId}`;
export const folderRes = (folderId: string): Resource => `folder:${folderId}`;
export const someCheck = (): string => randomBytes(32).toString("hex");

/** Registers a person who founds an organization: with a history, or without one. */
export async function registerSigner(
  service: Service,
  { history = true, keyring }: { history?: boolean; keyring?: string } = {},
): Promise<Signer> {
  const { publicKey, privateKey } = await newKeyPair();
  const [email, userId, orgId, orgName] = [newEmail(), randomUUID(), randomUUID(), "A signed organization"];
  const me = { userId, publicKey, privateKey, email };
  const change = { name: orgName, set: [memberHolder(me, "manage")] };
  const { text } = await sign(null, orgRes(orgId), `user:${userId}`, privateKey, change);
  const more = { user_id: userId, org_id: orgId, org_name: orgName, ...(history ? { entry: text } : {}), keyring };
  const person = await finishedRegistration(service, { email, publicKey, more });
  return { ...person, publicKey, privateKey, orgId };
}

/** Registers a person without an organization, whose private key the test has. */
export async function registerKeyed(service: Service, email = newEmail()): Promise<Signer> {
  const { publicKey, privateKey } = await newKeyPair();
  const person = await finishedRegistration(service, { email, publicKey });
  return { ...person, publicKey, privateKey, orgId: "" };
}

/** Where a person reads and writes the history of a resource. */
export function pathOf(res: Resource): string {
  return res.startsWith("org:") ? "/api/org/history" : `/api/org/folders/${res.slice("folder:".length)}/history`;
}

/** The verified state of a history as a person reads it; null without one. */
export async function stateOf(service: Service, { token }: Pick<Person, "token">, res: Resource) {
  const { body, status } = await call(service, "GET", pathOf(res), { token });
  if (status !== 200) throw new Error(`the history was answered ${status}`);
  const entries = body.data as unknown as string[]; // of this answer
  return entries.length === 0 ? null : (await extendAll(null, res, entries)).state;
}

/** Signs the next entry of a resource as the person reads it. */
export async function signNext(
  service: Service,
  signer: Signer,
  res: Resource,
  change: Change | ((before: HistoryState | null) => Change | Promise<Change>),
): Promise<string> {
  const before = await stateOf(service, signer, res);
  const what = typeof change === "function" ? await change(before) : change;
  return (await sign(before, res, `user:${signer.userId}`, signer.privateKey, what)).text;
}

/** Appends an entry by itself. */
export async function append(
  service: Service,
  { token }: Pick<Person, "token">,
  res: Resource,
  entry: string,
): Promise<Answer> {
  return call(service, "POST", pathOf(res), { token, body: { entry } });
}

/** A new folder with a history; its maker manages it. */
export async function createSignedFolder(
  service: Service,
  maker: Signer,
  name = randomBytes(6).toString("hex"),
): Promise<string> {
  const id = randomUUID();
  const change = { org: maker.orgId, name, set: [holder(maker, "manage")], ver: 1, check: someCheck() };
  const { text } = await sign(null, folderRes(id), `user:${maker.userId}`, maker.privateKey, change);
  const body = { id, name, encrypted_key: sealed(), entry: text };
  const answer = await call(service, "POST", "/api/org/folders", { token: maker.token, body });
  if (answer.status !== 201) throw new Error(`the folder was answered ${answer.status} ${answer.body.message}`);
  return id;
}

/** An invitation that a person was shown, and the body with which it is made. */
export async function invitationTo(
  service: Service,
  by: Signer,
  { email, role = "member" }: { email: string; role?: string },
): Promise<{
  seed: string;
  token: string;
  wrapKey: Uint8Array;
  body: { email: string; role: string; token_hash: string; entry: string };
}> {
  const seed = newInviteToken();
  const { token, tokenHash, wrapKey } = await readInviteToken(seed);
  const perm: Permission = role === "owner" || role === "admin" ? "manage" : "read";
  const entry = await signNext(service, by, orgRes(by.orgId), async (before) => ({
    invite: [await makeInvitation(before, orgRes(by.orgId), { tag: tokenHash, wrapKey, kind: "user", perm, email })],
  }));
  return { seed, token, wrapKey, body: { email, role, token_hash: tokenHash, entry } };
}

/** The entry with which an invited person joins the organization. */
export async function joinEntry(
  service: Service,
  person: Signer,
  orgId: string,
  { token, wrapKey, tag }: { token: string; wrapKey: Uint8Array; tag: string },
  change: (set: Holder[]) => Change = (set) => ({ set }),
): Promise<string> {
  const res = orgRes(orgId);
  const read = await call(service, "POST", "/api/org/invites/history", { token: person.token, body: { token } });
  if (read.status !== 200) throw new Error(`the invitation's history was answered ${read.status}`);
  const { state } = await extendAll(null, res, read.body.data as unknown as string[]);
  const invitation = state.invitations.find((one) => one.tag === tag);
  const joinKey = await openInvitation(res, invitation, wrapKey);
  const perm = invitation?.perm ?? "read";
  return (await sign(state, res, `invite:${tag}`, joinKey, change([memberHolder(person, perm)]))).text;
}

/** Makes a new person a member who joined with a signed entry. */
export async function joinSigned(service: Service, by: Signer, role = "member", again?: Signer): Promise<Signer> {
  const person = again ?? (await registerKeyed(service));
  const invitation = await invitationTo(service, by, { email: person.email, role });
  const made = await invite(service, by, invitation.body);
  if (made.status !== 201) throw new Error(`the invitation was answered ${made.status} ${made.body.message}`);
  const tag = invitation.body.token_hash;
  const entry = await joinEntry(service, person, by.orgId, { ...invitation, tag });
  const body = { token: invitation.token, entry };
  const joined = await call(service, "POST", "/api/org/invites/accept", { token: person.token, body });
  if (joined.status !== 200) throw new Error(`accepting was answered ${joined.status} ${joined.body.message}`);
  return { ...person, orgId: by.orgId };
}

/** Shares a folder with a history. */
export async function shareSigned(
  service: Service,
  by: Signer,
  folderId: string,
  person: Signer,
  permission: Permission,
  entry?: string,
): Promise<Answer> {
  const signed = entry ?? (await signNext(service, by, folderRes(folderId), { set: [holder(person, permission)] }));
  const body = {
    permission,
    encrypted_key: "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn",
    entry: signed,
  };
  return call(service, "PUT", `/api/org/folders/${folderId}/members/${person.userId}`, { token: by.token, body });
}

/** A machine with its public key and the one-time token that it spent. */
export interface JoiningMachine extends Machine {
  publicKey: string;
  wrapKey: Uint8Array;
  tag: string;
}

/** A one-time token whose folders' histories invite the machine that spends it. */
export async function signedTokenBody(
  service: Service,
  by: Signer,
  folders: { folder_id: string; permission: "read" | "write" }[],
  invitation: (made: Invitation) => Change = (made) => ({ invite: [made] }),
) {
  const { token, tokenHash, wrapKey } = await readAccessToken(newAccessToken());
  const entries = folders.map(async ({ folder_id, permission }) => {
    const res = folderRes(folder_id);
    const request = { tag: tokenHash, wrapKey, kind: "client" as const, perm: permission };
    const entry = await signNext(service, by, res, async (before) =>
      invitation(await makeInvitation(before, res, request)),
    );
    return { folder_id, permission, entry };
  });
  const body = { name: "a machine", token_hash: tokenHash, folders: await Promise.all(entries) };
  return { token, tag: tokenHash, wrapKey, body };
}

/** A machine that was bootstrapped with such a token, and has not joined yet. */
export async function createJoiningMachine(
  service: Service,
  by: Signer,
  folders: { folder_id: string; permission: "read" | "write" }[],
): Promise<JoiningMachine> {
  const applicationId = await createApplication(service, by);
  const { token, tag, wrapKey, body } = await signedTokenBody(service, by, folders);
  const made = await call(service, "POST", `/api/org/applications/${applicationId}/tokens`, { token: by.token, body });
  if (made.status !== 201) throw new Error(`the token was answered ${made.status} ${made.body.message}`);
  return bootstrapped(service, applicationId, { token, tag, wrapKey });
}

/** Spends a one-time token with a key pair that the test has. */
export async function bootstrapped(
  service: Service,
  applicationId: string,
  { token, tag, wrapKey }: { token: string; tag: string; wrapKey: Uint8Array },
): Promise<JoiningMachine> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const spent = await call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: spki } });
  if (spent.status !== 200) throw new Error(`bootstrap was answered ${spent.status}`);
  return { clientId: spent.body.client_id, applicationId, key: privateKey, publicKey: spki, wrapKey, tag };
}

/** The entry with which a machine joins a folder. */
export async function machineJoinEntry(
  service: Service,
  machine: JoiningMachine,
  folderId: string,
  { perm = "read", change }: { perm?: "read" | "write"; change?: Change } = {},
): Promise<string> {
  const res = folderRes(folderId);
  const read = await call(service, "GET", `/api/sm/v1/folders/${folderId}/history`, { token: bearer(machine) });
  if (read.status !== 200) throw new Error(`the folder's history was answered ${read.status}`);
  const { state } = await extendAll(null, res, read.body.data as unknown as string[]);
  const invitation = state.invitations.find(({ tag }) => tag === machine.tag);
  const joinKey = await openInvitation(res, invitation, machine.wrapKey);
  const by: SignerId = `invite:${machine.tag}`;
  return (await sign(state, res, by, joinKey, change ?? { set: [clientHolder(machine, perm)] })).text;
}

/** Appends the join of a machine. */
export function joinAs(service: Service, machine: Machine, folderId: string, entry: string): Promise<Answer> {
  return call(service, "POST", `/api/sm/v1/folders/${folderId}/history`, { token: bearer(machine), body: { entry } });
}

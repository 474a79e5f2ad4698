import { randomBytes, randomUUID } from "node:crypto";
import { newEmail, type Person, sealed } from "../support/people.ts";
import { wrongProof } from "../support/proofs.ts";
import { jwe, type RotationBody } from "../support/rotation.ts";
import type { Cell } from "./tables.ts";
import { newUid, type Targets } from "./targets.ts";

/** What the ids of a request are taken from. */
export interface Scene {
  targets: Targets;
  foreign: Targets;
  /** Who calls; null for a machine. */
  person: Person | null;
  /** A session of the caller's own, besides the one that asks. */
  ownSession: string;
  /** The token of an invitation to the caller. */
  ownInvite: string;
  /** What rotates the folder "granted" as it is. */
  rotation: RotationBody;
}

type Kind = keyof Targets;
type Naming = { query?: Record<string, string>; body?: object };

const first: Record<Kind, string> = {
  folder: "granted",
  application: "ours",
  client: "ours",
  token: "ours",
  person: "member",
  session: "ours",
  invite: "ours",
  inviteToken: "ours",
  secret: "ours",
  folderName: "granted",
  title: "ours",
};
const kinds: Record<string, Kind> = {
  folder_id: "folder",
  client_id: "client",
  token_id: "token",
  user_id: "person",
  sid: "session",
  uid: "secret",
};
const kindsOfId: readonly (readonly [RegExp, Kind])[] = [
  [/^\/api\/org\/folders/, "folder"],
  [/^\/api\/sm\/v1\/folders/, "folder"],
  [/^\/api\/org\/applications/, "application"],
  [/^\/api\/org\/invites/, "invite"],
  [/^\/api\/auth\/sessions/, "session"],
  [/^\/api\/users/, "person"],
];

/** The id of this kind that a word of the tables stands for. */
export function idOf(kind: Kind, word: string, { targets, foreign, person, ownSession, ownInvite }: Scene): string {
  if (word === "absent") return kind === "secret" ? newUid() : randomUUID();
  if (word === "self") return person?.userId ?? randomUUID();
  if (word === "own") return kind === "session" ? ownSession : ownInvite;
  const [from, name] = word === "foreign" ? [foreign, first[kind]] : [targets, word];
  const id = (from[kind] as Record<string, string>)[name];
  if (id === undefined) throw new Error(`there is no ${kind} "${word}"`);
  return id;
}

/** The path, with its query, and the body of a cell's request. */
export function requestOf(cell: Cell, scene: Scene): { method: string; path: string; body?: object } {
  const [method = "", template = ""] = cell.endpoint.split(" ");
  const words = [...cell.words];
  const path = template.replace(/:(\w+)/g, (_all, name: string) => {
    const word = words.shift() ?? "";
    if (name === "field") return word;
    if (name === "rotation_id") return randomUUID();
    const kind = kinds[name] ?? kindsOfId.find(([pattern]) => pattern.test(template))?.[1];
    if (kind === undefined) throw new Error(`${cell.endpoint}: what is ${name}?`);
    return idOf(kind, word, scene);
  });
  const { query = {}, body } = namings[cell.endpoint]?.(words, scene) ?? {};
  const search = new URLSearchParams(query).toString();
  return { method, path: search === "" ? path : `${path}?${search}`, ...(body && { body }) };
}

const content = () => ({ encrypted_payload: sealed(), wrapped_dek: sealed() });
const newName = () => randomBytes(8).toString("hex");
const uidIn = (word: string, scene: Scene) => (word === "new" ? {} : { uid: idOf("secret", word, scene) });
const folderIn = (word: string, scene: Scene): Record<string, string> =>
  word === "none" ? {} : { folder_id: idOf("folder", word, scene) };
const proof = (word: string) =>
  word === "none" ? {} : { login_id: randomUUID(), finish_login_request: wrongProof, otp: "123456" };

/** What the words after those of the path stand for, in the query or the body. */
const namings: Readonly<Record<string, (words: readonly string[], scene: Scene) => Naming>> = {
  "PATCH /api/org/members/:user_id": ([word]) => ({
    body: word === "suspended" ? { status: word } : { role: word },
  }),
  "POST /api/org/invites": ([role]) => ({ body: { email: newEmail(), role } }),
  "POST /api/org/invites/accept": ([word = ""], scene) => ({ body: { token: idOf("inviteToken", word, scene) } }),
  "POST /api/org/invites/history": ([word = ""], scene) => ({ body: { token: idOf("inviteToken", word, scene) } }),
  "POST /api/org/history": () => ({ body: { entry: "not.an.entry" } }),
  "POST /api/org/folders/:id/history": () => ({ body: { entry: "not.an.entry" } }),
  "POST /api/sm/v1/folders/:id/history": () => ({ body: { entry: "not.an.entry" } }),
  "PUT /api/account/keyring": ([word]) => ({ body: { version: word === "first" ? 1 : 2, sealed: sealed() } }),
  "POST /api/orgs": () => ({ body: { name: newName() } }),
  "POST /api/org/applications": () => ({ body: { name: newName() } }),
  "PATCH /api/org/applications/:id": () => ({ body: { name: newName() } }),
  "POST /api/org/applications/:id/tokens": ([word = ""], scene) => {
    const folders = word === "none" ? [] : [{ ...folderIn(word, scene), permission: "read" }];
    return { body: { name: newName(), folders } };
  },
  "PUT /api/org/applications/:id/clients/:client_id/folders/:folder_id": () => ({
    body: { permission: "read", encrypted_key: jwe },
  }),
  "POST /api/org/folders": ([word = ""], scene) => ({
    body: { name: newName(), encrypted_key: sealed(), ...(word !== "new" && { id: idOf("folder", word, scene) }) },
  }),
  "PATCH /api/org/folders/:id": () => ({ body: { name: newName() } }),
  "DELETE /api/org/folders/:id": ([word]) => (word === "force" ? { query: { force: "true" } } : {}),
  "PUT /api/org/folders/:id/members/:user_id": () => ({ body: { permission: "read", encrypted_key: jwe } }),
  "POST /api/org/folders/:id/rotate": ([word], scene) => ({ body: rotationLike(word, scene) }),
  "PUT /api/org/folders/:id/rotation/:rotation_id": ([word], scene) => ({
    body: { secrets: rotationLike(word, scene).secrets },
  }),
  "POST /api/org/folders/:id/secrets": ([word = ""], scene) => ({
    body: { record_type: "login", ...content(), ...uidIn(word, scene) },
  }),
  "PUT /api/org/folders/:id/secrets/:uid": () => ({ body: content() }),
  "POST /api/auth/password/start": () => ({
    body: { registration_request: Buffer.alloc(32, 2).toString("base64url") },
  }),
  "POST /api/auth/password": ([word = ""]) => ({
    body: { registration_record: "x", encrypted_user_key: sealed(), ...proof(word) },
  }),
  "PUT /api/account/travel-mode": ([word = ""]) => ({
    body: word === "on" ? { enabled: true } : { enabled: false, ...proof(word) },
  }),
  "PUT /api/org/members/:user_id/travel-mode": ([word]) => ({ body: { enabled: word === "on" } }),
  "POST /api/auth/totp": ([word = ""]) => ({ body: proof(word) }),
  "DELETE /api/auth/totp": ([word = ""]) => ({ body: proof(word) }),
  "POST /api/auth/totp/verify": () => ({ body: { otp: "123456" } }),
  "DELETE /api/auth/sessions": ([word]) => (word === "others" ? { query: { others: "true" } } : {}),
  "GET /api/sm/v1/secrets": ([word = ""], scene) => ({ query: folderIn(word, scene) }),
  "GET /api/sm/v1/secrets/search": ([word = ""], scene) => ({ query: { title: "a", ...folderIn(word, scene) } }),
  "POST /api/sm/v1/notation": ([folder = "", title = ""], scene) => ({
    body: {
      notation: `coffer://${idOf("folderName", folder, scene)}/${idOf("title", title, scene)}/field/password`,
    },
  }),
  "POST /api/sm/v1/secrets": ([folder = "", uid = ""], scene) => ({
    body: { record_type: "login", ...content(), ...folderIn(folder, scene), ...uidIn(uid, scene) },
  }),
  "PUT /api/sm/v1/secrets/:uid": () => ({ body: content() }),
};

/** A rotation of the folder as it is, or one that names another version, holder or secret than it has. */
function rotationLike(word: string | undefined, { rotation, foreign }: Scene): RotationBody {
  if (word === "version") return { ...rotation, key_version: rotation.key_version + 1 };
  if (word === "holder") {
    const users = rotation.encrypted_keys.users.map(({ user_id, encrypted_key }, index) => ({
      user_id: index === 0 ? foreign.person.member : user_id,
      encrypted_key,
    }));
    return { ...rotation, encrypted_keys: { ...rotation.encrypted_keys, users } };
  }
  if (word === "secret") {
    const [secret, ...rest] = rotation.secrets;
    return { ...rotation, secrets: secret ? [{ ...secret, uid: foreign.secret.ours }, ...rest] : [] };
  }
  return rotation;
}

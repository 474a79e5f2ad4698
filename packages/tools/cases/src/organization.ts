import { createPrivateKey } from "node:crypto";
import {
  box,
  contexts,
  newAccessToken,
  newId,
  newKey,
  newKeyPair,
  newSecretUid,
  readAccessToken,
} from "@coffer/crypto";
import type { Given, SecretGiven, TokenGiven } from "./case-file.ts";
import type { Connection } from "./connection.ts";
import { CaseFailure } from "./failure.ts";
import type { Machine } from "./machine.ts";
import { createPerson, newEmail, type Owner, type OwnerKey, type Person } from "./owner.ts";
import { type FolderKey, sealSecret } from "./seal.ts";
import type { Scope } from "./template.ts";

/** A folder, by its names in steps. */
export interface Folder extends FolderKey {
  name: string;
}

export interface Token {
  id: string;
  name: string;
  /** The sent value that spends it. */
  token: string;
  /** The text that a person was shown. */
  whole: string;
  wrapKey: Uint8Array<ArrayBuffer> | undefined;
  application_id: string;
  org_id: string;
}

/** A separate organization with the objects that cases need. */
export interface Organization extends Person {
  readonly orgId: string;
  readonly owner: OwnerKey;
  /** Registers a member by an invitation of the owner. */
  addMember(): Promise<Owner>;
  /** Makes the given objects and returns them by name. Names in `given` may also refer to `known`. */
  make(given: Given, known: Scope): Promise<Scope>;
}

/** Registers an owner and makes an application for the machines. */
export async function createOrganization(connection: Connection, name: string): Promise<Organization> {
  const owner = await createPerson(connection, { organization: name });
  const applicationId = await makeApplication(owner);
  let made = 0;

  const addMember = async (): Promise<Owner> => {
    const email = newEmail();
    const { token } = await owner.call("POST", "/api/org/invites", { email, role: "member" });
    return createPerson(connection, { inviteToken: String(token), email });
  };

  return {
    orgId: owner.orgId,
    owner,
    accessToken: () => owner.accessToken(),
    addMember,
    async make(given, known) {
      const scope: Scope = { ...known };
      made += 1;
      for (const alias of given.folders) scope[alias] = await makeFolder(owner, `${alias}-${made}`);
      for (const [alias, secret] of Object.entries(given.secrets))
        scope[alias] = await makeSecret(owner, secret, scope);
      for (const [alias, token] of Object.entries(given.tokens))
        scope[alias] = await makeToken(owner, applicationId, alias, token, scope);
      for (const [alias, machine] of Object.entries(given.machines)) {
        const token = await makeToken(owner, applicationId, alias, tokenOf(machine), scope);
        scope[alias] = await bootstrap(connection, token);
      }
      for (const [alias, [first = "", ...others]] of Object.entries(given.people)) {
        const person = await addMember();
        Object.assign(scope, { [alias]: { id: person.id }, [first]: person.session });
        for (const other of others) scope[other] = await person.login();
      }
      return Object.fromEntries(Object.entries(scope).filter(([alias]) => !(alias in known)));
    },
  };
}

async function makeApplication({ call }: Owner): Promise<string> {
  const { id } = await call("POST", "/api/org/applications", { name: `cases ${newId()}` });
  return String(id);
}

async function makeFolder({ call, userKey }: Owner, name: string): Promise<Folder> {
  const [id, key] = [newId(), newKey()];
  const encryptedKey = await box(userKey, key, contexts.folderKey(id));
  await call("POST", "/api/org/folders", { id, name, encrypted_key: encryptedKey });
  return { id, name, key };
}

async function makeSecret({ call }: Owner, secret: SecretGiven, scope: Scope): Promise<Record<string, unknown>> {
  const folder = folderOf(scope, secret.folder);
  const uid = newSecretUid();
  const { title, type, name, fields } = secret;
  const sealed = await sealSecret(folder, { uid, title, name, fields });
  const body = { uid, record_type: type, ...(title === undefined ? {} : { title }), ...sealed };
  const receipt = await call("POST", `/api/org/folders/${folder.id}/secrets`, body);
  return { ...receipt, ...sealed, title, folder: folder.name };
}

async function makeToken(
  owner: Owner,
  sharedApplication: string,
  name: string,
  given: TokenGiven,
  scope: Scope,
): Promise<Token> {
  const applicationId = given.own_application ? await makeApplication(owner) : sharedApplication;
  const whole = newAccessToken();
  const { token, tokenHash, wrapKey } = await readAccessToken(whole);
  const folders = await Promise.all(
    Object.entries(given.grants).map(async ([alias, permission]) => {
      const { id, key } = folderOf(scope, alias);
      const isSealed = !given.made_by_service && !given.unsealed.includes(alias);
      const sealed = isSealed ? { encrypted_folder_key: await box(wrapKey, key, contexts.sharedFolderKey(id)) } : {};
      return { folder_id: id, permission, ...sealed };
    }),
  );
  const inSeconds = (seconds: number | undefined): string | undefined =>
    seconds === undefined ? undefined : new Date(Date.now() + seconds * 1000).toISOString();
  const answer = await owner.call("POST", `/api/org/applications/${applicationId}/tokens`, {
    name,
    folders,
    token_hash: given.made_by_service ? undefined : tokenHash,
    expires_at: inSeconds(given.expires_in),
    client_expires_at: inSeconds(given.client_expires_in),
    allowed_cidrs: given.allowed_cidrs,
  });
  const about = { id: String(answer["id"]), name, application_id: applicationId, org_id: owner.orgId };
  if (!given.made_by_service) return { ...about, token, whole, wrapKey };
  return { ...about, token: String(answer["token"]), whole: "", wrapKey: undefined };
}

/** Spends the token as a machine does. Throws a CaseFailure unless the status is 200. */
async function bootstrap(connection: Connection, { token, application_id, org_id }: Token): Promise<Machine> {
  const { publicKey, privateKey } = await newKeyPair();
  const answer = await connection.sendPatiently({
    method: "POST",
    path: "/api/sm/v1/bootstrap",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, public_key: publicKey }),
    address: connection.newAddress(),
  });
  if (answer.status !== 200) throw new CaseFailure(`bootstrap was answered ${answer.status}: ${answer.text}`);
  const { client_id } = answer.json as { client_id: string };
  const key = createPrivateKey({ key: Buffer.from(privateKey), type: "pkcs8", format: "der" });
  return { client_id, application_id, org_id, public_key: publicKey, privateKey: key };
}

function tokenOf(machine: Given["machines"][string]): TokenGiven {
  if ("grants" in machine && typeof machine.grants === "object") return machine as TokenGiven;
  return { grants: machine as TokenGiven["grants"], unsealed: [], made_by_service: false, own_application: false };
}

function folderOf(scope: Scope, alias: string): Folder {
  const folder = scope[alias];
  if (folder === undefined) throw new TypeError(`the case was given no folder ${alias}`);
  return folder as Folder; // every folder's name is in `folders`
}

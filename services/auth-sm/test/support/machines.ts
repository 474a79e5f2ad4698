import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { type Answer, call, type CallOptions } from "./call.ts";
import { type Person, sealed } from "./people.ts";
import { baseUrl } from "./service.ts";

type Service = { url: string };

export interface Grant {
  folder_id: string;
  permission: "read" | "write";
  encrypted_folder_key?: string;
}

/** A machine that was bootstrapped with a one-time token. */
export interface Machine {
  clientId: string;
  applicationId: string;
  key: KeyObject;
}

/** The id of a new folder, which its maker manages. */
export async function createFolder(
  service: Service,
  owner: Person,
  name = randomBytes(6).toString("hex"),
): Promise<string> {
  const answer = await call(service, "POST", "/api/org/folders", {
    token: owner.token,
    body: { name, encrypted_key: sealed() },
  });
  if (answer.status !== 201) throw new Error(`the folder was answered ${answer.status}`);
  return answer.body.id;
}

export async function createApplication(
  service: Service,
  owner: Person,
  name = randomBytes(6).toString("hex"),
): Promise<string> {
  const answer = await call(service, "POST", "/api/org/applications", { token: owner.token, body: { name } });
  if (answer.status !== 201) throw new Error(`the application was answered ${answer.status}`);
  return answer.body.id;
}

/** A one-time token whose secret only this side knows, as an administrator's machine makes it. */
export async function createToken(
  service: Service,
  owner: Person,
  folders: Grant[],
  { applicationId, ...options }: { applicationId?: string } & Record<string, unknown> = {},
): Promise<{ id: string; token: string; applicationId: string }> {
  const application = applicationId ?? (await createApplication(service, owner));
  const token = randomBytes(32).toString("base64url");
  const answer = await call(service, "POST", `/api/org/applications/${application}/tokens`, {
    token: owner.token,
    body: { name: "a machine", token_hash: createHash("sha256").update(token).digest("hex"), folders, ...options },
  });
  if (answer.status !== 201) throw new Error(`the token was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return { id: answer.body.id, token, applicationId: application };
}

export function newKeyPair(): { key: KeyObject; spki: string; point: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const der = publicKey.export({ type: "spki", format: "der" });
  return { key: privateKey, spki: der.toString("base64"), point: der.subarray(-65).toString("base64") };
}

export async function createMachine(
  service: Service,
  owner: Person,
  folders: Grant[],
  options: { applicationId?: string } & Record<string, unknown> = {},
): Promise<Machine> {
  const { token } = await createToken(service, owner, folders, options);
  const { key, spki } = newKeyPair();
  const answer = await call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: spki } });
  if (answer.status !== 200) throw new Error(`bootstrap was answered ${answer.status}`);
  return { clientId: answer.body.client_id, applicationId: answer.body.application_id, key };
}

/** A token that the machine signs itself; `claims` and `header` replace what an honest one has. */
export function bearer(
  machine: Pick<Machine, "clientId" | "key">,
  { claims = {}, header = {}, now = new Date() }: { claims?: object; header?: object; now?: Date } = {},
): string {
  const iat = Math.floor(now.getTime() / 1000);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = [
    encode({ alg: "ES256", typ: "JWT", ...header }),
    encode({ sub: machine.clientId, aud: baseUrl, iat, exp: iat + 300, ...claims }),
  ].join(".");
  const signature = sign("sha256", Buffer.from(signed), { key: machine.key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** One request to the Secrets Manager as the machine. */
export function ask(
  service: Service,
  machine: Machine,
  method: string,
  path: string,
  options: Omit<CallOptions, "token"> = {},
): Promise<Answer> {
  return call(service, method, `/api/sm/v1${path}`, { token: bearer(machine), ...options });
}

/** A body that makes a secret; `more` replaces or adds. */
export function secretBody(folderId: string, more: object = {}): Record<string, unknown> {
  return {
    folder_id: folderId,
    record_type: "login",
    encrypted_payload: sealed(200),
    wrapped_dek: sealed(60),
    ...more,
  };
}

/** The uid of a new secret. */
export async function createSecret(
  service: Service,
  machine: Machine,
  folderId: string,
  more: object = {},
): Promise<string> {
  const answer = await ask(service, machine, "POST", "/secrets", { body: secretBody(folderId, more) });
  if (answer.status !== 201)
    throw new Error(`the secret was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.uid;
}

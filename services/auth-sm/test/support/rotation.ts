import { randomBytes } from "node:crypto";
import { type Answer, call } from "./call.ts";
import type { Person } from "./people.ts";

type Service = { url: string };

/** In the form of a compact JWE; the server looks no further. */
export const jwe = "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn";

/** Some ciphertext that says with which version of the folder's key it was sealed. */
export function sealedWith(keyVersion: number): string {
  return Buffer.from(`v${keyVersion} ${randomBytes(12).toString("hex")}`).toString("base64");
}

/** What `sealedWith` has noted. */
export function keyVersionOf(ciphertext: string): number {
  return Number(/^v(\d+) /.exec(Buffer.from(ciphertext, "base64").toString())?.[1]);
}

export interface RotationBody {
  key_version: number;
  encrypted_keys: {
    users: { user_id: string; encrypted_key: string }[];
    clients: { client_id: string; encrypted_key: string }[];
  };
  secrets: {
    uid: string;
    version: number;
    encrypted_payload?: string;
    wrapped_dek: string;
    title_encrypted?: string;
    fields?: Record<string, string>;
  }[];
}

/** What an honest client sends to rotate a folder as it is now. */
export async function rotationOf(service: Service, { token }: Person, folderId: string): Promise<RotationBody> {
  const path = `/api/org/folders/${folderId}`;
  const folders = await call(service, "GET", "/api/org/folders", { token });
  const keyVersion = folders.body.data.find(({ id }) => id === folderId)?.key_version ?? 0;
  const holders = (await call(service, "GET", `${path}/members`, { token })).body.data;
  const secrets = (await call(service, "GET", `${path}/secrets`, { token })).body.data;
  const next = keyVersion + 1;
  const of = (kind: string) => holders.filter((holder) => (holder as unknown as { kind: string }).kind === kind);
  return {
    key_version: keyVersion,
    encrypted_keys: {
      users: of("user").map(({ id }) => ({ user_id: id, encrypted_key: jwe })),
      clients: of("client").map(({ id }) => ({ client_id: id, encrypted_key: jwe })),
    },
    secrets: secrets.map(({ uid, version, title_encrypted, field_names }) => ({
      uid,
      version,
      wrapped_dek: sealedWith(next),
      ...(title_encrypted === "" ? {} : { title_encrypted: sealedWith(next) }),
      ...(field_names.length === 0
        ? {}
        : { fields: Object.fromEntries(field_names.map((name) => [name, sealedWith(next)])) }),
    })),
  };
}

export function rotate(
  service: Service,
  { token }: Pick<Person, "token">,
  folderId: string,
  body: unknown,
): Promise<Answer> {
  return call(service, "POST", `/api/org/folders/${folderId}/rotate`, { token, body });
}

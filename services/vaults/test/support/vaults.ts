import { randomBytes } from "node:crypto";
import { setTravelMode } from "@coffer/events";
import { type Answer, type AnswerBody, call } from "./call.ts";
import type { Person } from "./people.ts";
import type { TestVaults } from "./service.ts";

/** Text that looks like ciphertext. */
export const sealed = (bytes = 48): string => randomBytes(bytes).toString("base64");
/** A JWE that looks like a sealed key. */
export const jwe = "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.c2VhbGVk.aXY.Y2lwaGVydGV4dA.dGFn";

/** The body of a response with this status. Throws on another status. */
export function expected(answer: Answer, status: number): AnswerBody {
  if (answer.status === status) return answer.body;
  throw new Error(`answered ${answer.status} and not ${status}: ${answer.body.message}`);
}

/** Makes a vault, shared by default; returns it. */
export async function newVault(
  service: { url: string },
  person: Person,
  body: { id?: string; name?: string; type?: "shared" | "personal" } = {},
  headers: Record<string, string> = {},
): Promise<AnswerBody> {
  const whole = { name: "Vault", type: "shared", encrypted_key: sealed(), ...body };
  return expected(await call(service, person, "POST", "/api/vaults", { body: whole, headers }), 201);
}

/** Shares a vault with a person. */
export async function share(
  service: { url: string },
  by: Person,
  vaultId: string,
  to: Person,
  permission: "read" | "write" | "manage" = "read",
): Promise<AnswerBody> {
  const body = { permission, encrypted_key: jwe };
  return expected(await call(service, by, "PUT", `/api/vaults/${vaultId}/members/${to.userId}`, { body }), 200);
}

/** Makes a record; returns it. */
export async function newRecord(
  service: { url: string },
  person: Person,
  vaultId: string,
  body: { id?: string; type?: string; encrypted_data?: string } = {},
): Promise<AnswerBody> {
  const whole = { type: "login", encrypted_data: sealed(), ...body };
  return expected(await call(service, person, "POST", `/api/vaults/${vaultId}/records`, { body: whole }), 201);
}

/** Turns a person's travel mode on or off, as auth-sm does. */
export function travel({ people }: TestVaults, { userId }: Person, enabled: boolean) {
  const input = { user_id: userId, enabled, audit: [] };
  return people.bus.request(setTravelMode, input, { timeoutMilliseconds: 20_000 });
}

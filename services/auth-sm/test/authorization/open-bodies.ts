import { randomBytes, randomUUID } from "node:crypto";
import { startLogin, startRegistration } from "@coffer/crypto/opaque";
import { newKeyPair } from "../support/machines.ts";
import type { Person } from "../support/people.ts";
import { device, newEmail, registration, sealed } from "../support/people.ts";
import { wrongProof } from "../support/proofs.ts";

const secret = (): string => randomBytes(32).toString("base64url");

/** What somebody sends to an endpoint that is open: well formed, and about nothing that exists, or about `taken`. */
export async function openBody(service: { url: string }, endpoint: string, taken: Person): Promise<object | undefined> {
  switch (endpoint) {
    case "GET /.well-known/jwks.json":
      return undefined;
    case "POST /api/auth/register/start": {
      const { registrationRequest } = await startRegistration("a password");
      return { email: newEmail(), registration_request: registrationRequest };
    }
    case "POST /api/auth/register/finish":
      return registration(service, { email: taken.email });
    case "POST /api/auth/login/start":
      return { email: newEmail(), start_login_request: (await startLogin("a password")).startLoginRequest };
    case "POST /api/auth/login/finish":
      return { login_id: randomUUID(), finish_login_request: wrongProof, device };
    case "POST /api/auth/refresh":
      return { refresh_token: secret() };
    case "POST /api/auth/recovery/start": {
      const { registrationRequest } = await startRegistration("a password");
      return { email: newEmail(), proof: secret(), registration_request: registrationRequest };
    }
    case "POST /api/auth/recovery/finish":
      return { recovery_id: randomUUID(), registration_record: "x", encrypted_user_key: sealed(), device };
    case "POST /api/sm/v1/bootstrap":
      return { token: secret(), public_key: newKeyPair().spki };
    default:
      throw new Error(`${endpoint}: what does one send to it?`);
  }
}

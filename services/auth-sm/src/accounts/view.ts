import type { UserRow } from "../store/users.ts";

/** A person, the same everywhere. */
export interface UserView {
  id: string;
  email: string;
  name: string;
  created_at: string;
}

export function userView({ id, email, name, created_at }: UserView): UserView {
  return { id, email, name, created_at };
}

/** What a person's device needs to open everything else; the server can open none of it. */
export interface SealedKeys {
  encrypted_user_key: string;
  public_key: string;
  encrypted_private_key: string;
}

export function sealedKeys({ encrypted_user_key, public_key, encrypted_private_key }: UserRow): SealedKeys {
  return { encrypted_user_key, public_key, encrypted_private_key };
}

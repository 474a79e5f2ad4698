import type { UserRow } from "../store/accounts/users.ts";

export interface UserView {
  id: string;
  email: string;
  name: string;
  created_at: string;
}

export function userView({ id, email, name, created_at }: UserView): UserView {
  return { id, email, name, created_at };
}

/** The keys with which a person's device opens everything else. The server cannot open them. */
export interface SealedKeys {
  encrypted_user_key: string;
  public_key: string;
  encrypted_private_key: string;
}

export function sealedKeys({ encrypted_user_key, public_key, encrypted_private_key }: UserRow): SealedKeys {
  return { encrypted_user_key, public_key, encrypted_private_key };
}

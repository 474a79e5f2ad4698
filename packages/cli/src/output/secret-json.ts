import type { Secret } from "@coffer/sdk";
import { shortTime } from "./output.ts";

/** A secret in lists, without its secret values, with the names of the interface. */
export function secretJson(secret: Secret): Record<string, unknown> {
  return {
    uid: secret.uid,
    folder_id: secret.folder_id,
    folder: secret.folder,
    title: secret.title,
    record_type: secret.type,
    field_names: Object.keys(secret.fields),
    version: secret.version,
    key_version: secret.key_version,
    created_at: secret.created_at,
    updated_at: secret.updated_at,
    expires_at: secret.expires_at,
    expired: secret.expired,
  };
}

/** `never`, a time, or `expired` and the time when it expired. */
export function expiryText({ expires_at, expired }: Secret): string {
  return `${expired ? "expired " : ""}${shortTime(expires_at)}`;
}

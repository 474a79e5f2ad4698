import type { Secret } from "@coffer/sdk";

/** What lists print of a secret: everything but what is secret. By the interface's names. */
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
  };
}

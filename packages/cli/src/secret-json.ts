import type { Secret } from "@coffer/sdk";

/** What lists print of a secret: everything but what is secret. By the interface's names. */
export function secretJson(secret: Secret): Record<string, unknown> {
  return {
    uid: secret.uid,
    folder_id: secret.folderId,
    folder: secret.folder,
    title: secret.title,
    record_type: secret.type,
    field_names: Object.keys(secret.fields),
    version: secret.version,
    key_version: secret.keyVersion,
    created_at: secret.createdAt,
    updated_at: secret.updatedAt,
  };
}

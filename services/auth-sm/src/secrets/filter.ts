import type { SecretFilter } from "../store/secrets/secret-lists.ts";
import type { ListQuery } from "./bodies.ts";

export function filterOf({
  record_type,
  updated_since,
}: Pick<ListQuery, "record_type" | "updated_since">): SecretFilter {
  return { recordType: record_type, updatedSince: updated_since };
}

import { ServiceError } from "@coffer/errors";
import { type AuditedCall, uuidText } from "@coffer/http";
import type { z } from "zod";
import { requireReadableNotation } from "../access/machine-reads.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { foldCase } from "../fold-case.ts";
import type { NotationQuery } from "../store/secrets/secret-reads.ts";
import type { FieldView } from "./read-field.ts";
import { type notationBody, parseNotation } from "./notation.ts";

/** The field that a notation names, with the names by which it was found. */
export interface NotationView extends FieldView {
  folder: string;
  title: string;
}

/** POST /api/sm/v1/notation */
export async function resolveNotation(
  deps: Deps,
  { caller, body, audit }: AuditedCall<Machine, unknown, z.infer<typeof notationBody>>,
): Promise<NotationView> {
  const named = parseNotation(body.notation);
  const { title, field } = named;
  const query = { folder: folderNamed(named.folder), title, field };
  const { orgId, actor, client: row } = await requireReadableNotation(deps, caller, query);
  if (row.folder_id === null) throw notFound("folder");
  if (row.uid === null) throw notFound("secret");
  if (row.matches > 1) {
    throw new ServiceError(
      "invalid_request",
      `${row.matches} secrets of this folder match: name the one you mean by its uid`,
    );
  }
  if (row.value === null) throw notFound("field");
  await deps.audit(audit({ orgId, actor, target: { id: row.uid, parent_id: row.folder_id } }));
  return {
    uid: row.uid,
    folder: row.folder_name,
    title: row.title ?? "",
    field: named.field,
    title_encrypted: row.title_encrypted,
    value_encrypted: row.value,
    folder_id: row.folder_id,
    secret_uid: row.uid,
    wrapped_dek: row.wrapped_dek,
    key_version: row.key_version,
    updated_at: row.updated_at,
  };
}

/**
 * A text in the form of an id is never a name. So a folder named like another folder's id cannot
 * capture its notations.
 */
function folderNamed(folder: string): NotationQuery["folder"] {
  const id = uuidText.safeParse(folder).data;
  return id === undefined ? { nameFolded: foldCase(folder) } : { id };
}

function notFound(what: string): ServiceError {
  return new ServiceError("secret_not_found", `no ${what} matches the notation`);
}

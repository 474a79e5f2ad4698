import { readEnvFile } from "@coffer/import/env-file";
import type { MatrixRow, MatrixView } from "../../protocol/folders.ts";
import { setField } from "./folders.ts";
import type { Workspace } from "../workspace.ts";

/** The name of the field that a variable of a dotenv file becomes. */
const variableField = "value";

/** All fields beside each other, folder by folder. The page learns which values are equal, and no value. */
export async function matrixView({ client }: Workspace): Promise<MatrixView> {
  client.secrets.expire();
  // First: the secrets are those of the folders that this has found, also of one that was just accepted.
  const listed = await client.folders.list();
  const secrets = await client.secrets.list();
  const folders = listed
    .filter(({ problem }) => problem === null)
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name, permission }) => ({ id, name, mayChange: permission !== null && permission !== "read" }));
  const places = new Map(folders.map(({ id }, at) => [id, at]));
  const rows = new Map<string, MatrixRow & { values: string[] }>();
  for (const { uid, title, folder_id: folderId, fields } of secrets) {
    const place = places.get(folderId);
    if (place === undefined) continue;
    for (const [field, value] of Object.entries(fields)) {
      const row = rowFor(rows, title, field, place, folders.length);
      const known = row.values.indexOf(value);
      row.cells[place] = { uid, value: known === -1 ? row.values.push(value) - 1 : known };
    }
  }
  const sorted = [...rows.values()].sort(
    (a, b) => a.title.localeCompare(b.title) || a.field.localeCompare(b.field) || a.copy - b.copy,
  );
  return { folders, rows: sorted.map(({ title, field, copy, cells }) => ({ title, field, copy, cells })) };
}

/** The row whose cell of this folder is free: two secrets of a folder may have one title. */
function rowFor(
  rows: Map<string, MatrixRow & { values: string[] }>,
  title: string,
  field: string,
  place: number,
  width: number,
): MatrixRow & { values: string[] } {
  for (let copy = 1; ; copy += 1) {
    const key = JSON.stringify([title, field, copy]);
    const row = rows.get(key);
    if (row === undefined) {
      const made = { title, field, copy, cells: Array.from({ length: width }, () => null), values: [] };
      rows.set(key, made);
      return made;
    }
    if (row.cells[place] === null) return row;
  }
}

/** Sets a field in one folder to its value in another, which the page does not learn. */
export async function copyValue(
  workspace: Workspace,
  { uid, title, field, folderId }: { uid: string; title: string; field: string; folderId: string },
): Promise<MatrixView> {
  const { fields } = await workspace.client.secrets.get(uid);
  const value = fields[field];
  if (value !== undefined) await setField(workspace, { folderId, title, field, value });
  return matrixView(workspace);
}

/** Sets the variables of a dotenv file in a folder, each as a secret of its name. Nothing, when a line is wrong. */
export async function pasteEnv(
  workspace: Workspace,
  { folderId, text }: { folderId: string; text: string },
): Promise<{ view: MatrixView; count: number } | { wrongLine: number }> {
  const read = readEnvFile(text);
  if ("wrongLine" in read) return read;
  for (const [title, value] of read.variables)
    await setField(workspace, { folderId, title, field: variableField, value });
  return { view: await matrixView(workspace), count: read.variables.size };
}

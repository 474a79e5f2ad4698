import { decodeJson } from "../decode-text.ts";
import { ImportError } from "../import-error.ts";
import { asObjects, asText, isObject, type Loose, otherMembers } from "../loose.ts";
import type { Include } from "../include.ts";
import { newReading, type Reading } from "../report.ts";
import { readItem } from "./read-item.ts";

/**
 * Bitwarden's unencrypted JSON for a person (`folders`) and for an organization (`collections`).
 * Throws ImportError `broken`, `wrong_format`, `encrypted`.
 */
export function readBitwardenJson(bytes: Uint8Array, include: Include): Reading {
  const file = decodeJson(bytes);
  if (!isObject(file)) throw noBitwarden();
  if (file["encrypted"] === true)
    throw new ImportError(
      "encrypted",
      file["passwordProtected"] === true
        ? "this export is protected by a password, which only Bitwarden opens: export again as .json without a password"
        : "this export is encrypted for its Bitwarden account: export again as .json, not as .json (Encrypted)",
    );
  if (!Array.isArray(file["items"])) throw noBitwarden();
  const reading = newReading();
  const folders = namesOf(file["folders"]);
  const collections = namesOf(file["collections"]);
  const items: readonly unknown[] = file["items"];
  for (const [index, item] of items.entries())
    if (isObject(item)) readItem(item, { folders, collections, include, reading, position: index + 1 });
    else reading.leftOut.push({ kind: "item", item: `item ${index + 1}`, reason: "it is no item" });
  const usedIds = items.filter(isObject).flatMap((item) => [item["folderId"], item["collectionIds"]].flat());
  const used = new Set(usedIds.map(asText));
  for (const [key] of otherMembers(file, ["encrypted", "passwordProtected", "folders", "collections", "items"]))
    reading.leftOut.push({ kind: "field", item: null, reason: `"${key}", which is not known` });
  for (const [kind, list] of [
    ["folder", folders],
    ["collection", collections],
  ] as const)
    for (const [id, name] of list)
      if (!used.has(id))
        reading.leftOut.push({ kind: "setting", item: null, reason: `the ${kind} "${name}" holds nothing` });
  return reading;
}

function namesOf(list: unknown): Map<string, string> {
  return new Map(asObjects(list).map((entry: Loose) => [asText(entry["id"]), asText(entry["name"])]));
}

function noBitwarden(): ImportError {
  return new ImportError("wrong_format", "this is no bitwarden-json: an object with a list of `items` was expected");
}

import type { XmlElement } from "@rgrove/parse-xml";
import { decodeText } from "../decode-text.ts";
import { joinFolder } from "../folder-path.ts";
import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { newReading } from "../report.ts";
import type { Reading } from "../report.ts";
import { childOf, childrenOf, readXml, textOf } from "../xml/read-xml.ts";
import { isOurs } from "./generator.ts";
import { readEntry, stringsOf } from "./read-entry.ts";
import { referencesIn } from "./references.ts";

/**
 * KeePass's XML (2.x), as KeePass, KeePassXC and their relatives export it. Groups become folders; the outermost one is
 * the database and names none. Throws ImportError `broken`, `refused`, `wrong_format`, `encrypted`.
 */
export function readKeepassXml(bytes: Uint8Array, include: Include): Reading {
  const file = readXml(decodeText(bytes));
  const root = childOf(childOf(file, "Root"), "Group");
  if (file.name !== "KeePassFile" || root === undefined)
    throw new ImportError(
      "wrong_format",
      "this is no keepass-xml: the element KeePassFile with Root and Group was expected",
    );
  const meta = childOf(file, "Meta");
  const bin = textOf(meta, "RecycleBinEnabled") === "True" ? textOf(meta, "RecycleBinUUID") : "";
  const reading = newReading();
  // What looks like a reference in a file of ours is somebody's text: with other records around it would come back as theirs.
  const lookUp = isOurs(meta)
    ? undefined
    : referencesIn(entriesBelow(root).map((entry) => [textOf(entry, "UUID"), stringsOf(entry).values]));
  const walk = (group: XmlElement, path: readonly string[]): void => {
    const folder = joinFolder(path);
    const inBin = bin !== "" && textOf(group, "UUID") === bin;
    if (inBin && !include.deleted) {
      for (const entry of entriesBelow(group))
        reading.leftOut.push({
          kind: "item",
          item: stringsOf(entry).values.get("Title") ?? "",
          reason: "it is in the recycle bin",
        });
      return;
    }
    if (textOf(group, "Notes") !== "")
      reading.leftOut.push({ kind: "setting", item: null, reason: `the notes of the group "${folder}"` });
    if (!inBin && childrenOf(group, "Entry").length + childrenOf(group, "Group").length === 0)
      reading.leftOut.push({ kind: "setting", item: null, reason: `the group "${folder}" holds nothing` });
    for (const entry of childrenOf(group, "Entry")) readEntry(entry, { folder, lookUp, reading });
    for (const child of childrenOf(group, "Group")) walk(child, [...path, textOf(child, "Name")]);
  };
  walk(root, []);
  return reading;
}

/** All entries of a group and the groups in it, put behind those that were found. */
function entriesBelow(group: XmlElement, found: XmlElement[] = []): XmlElement[] {
  for (const entry of childrenOf(group, "Entry")) found.push(entry);
  for (const inner of childrenOf(group, "Group")) entriesBelow(inner, found);
  return found;
}

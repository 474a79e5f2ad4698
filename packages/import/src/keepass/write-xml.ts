import type { ExportRecord } from "../export-record.ts";
import { splitFolder } from "../folder-path.ts";
import { element, fitsXml, textElement } from "../xml/write-xml.ts";
import { ownMeta } from "./generator.ts";
import { holdsReference } from "./references.ts";
import { uuidBase64 } from "./uuid-base64.ts";
import { entryXml } from "./write-entry.ts";

interface Group {
  name: string;
  entries: string[];
  groups: Map<string, Group>;
}

/** A limit, because readers recurse into groups. */
const deepest = 100;

/**
 * Writes KeePass's XML (2.x) for KeePass and KeePassXC. Folders become groups. `newUuid` makes the
 * groups' ids; an entry's id is its record's. Fields with control characters, which XML cannot
 * hold, are omitted.
 */
export function writeKeepassXml(
  records: readonly ExportRecord[],
  newUuid: () => string = () => crypto.randomUUID(),
): string {
  const root: Group = { name: "Coffer", entries: [], groups: new Map() };
  for (const record of records) {
    let group = root;
    for (const name of groupsOf(record.payload["folder"] ?? "")) {
      const next = group.groups.get(name) ?? { name, entries: [], groups: new Map<string, Group>() };
      group.groups.set(name, next);
      group = next;
    }
    group.entries.push(entryXml(record));
  }
  const body = element("KeePassFile", `\n${ownMeta}\n${element("Root", `\n${groupXml(root, newUuid)}\n`)}\n`);
  return `<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n${body}\n`;
}

/** Why KeePass's XML cannot hold a value. */
export function whyNotInKeepassXml(field: string, value: string): string | undefined {
  if (!fitsXml(field + value)) return `XML cannot hold a character in "${field}"`;
  if (field !== "folder") return undefined;
  const parts = splitFolder(value);
  return parts.length > deepest ? "its folder is nested too deeply" : "its folder's name has an empty part or a bare %";
}

/** How KeePass shows a value that the file holds unchanged. */
export function oddInKeepass(field: string, value: string): string | undefined {
  if (field === "folder" || field === "tags" || !holdsReference(value)) return undefined;
  return `"${field}" looks like a reference: KeePass shows the value of another entry instead`;
}

/** The group names of a folder; none for a folder that the file cannot hold. */
function groupsOf(folder: string): string[] {
  const parts = splitFolder(folder);
  return fitsXml(folder) && parts.length <= deepest ? parts : [];
}

function groupXml({ name, entries, groups }: Group, newUuid: () => string): string {
  const inner = [...entries, ...[...groups.values()].map((group) => groupXml(group, newUuid))];
  const head = textElement("UUID", uuidBase64(newUuid())) + textElement("Name", name);
  return element("Group", [head, ...inner].map((line) => `\n${line}`).join("") + "\n");
}

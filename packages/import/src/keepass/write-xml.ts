import type { ExportRecord } from "../export-record.ts";
import { splitFolder } from "../folder-path.ts";
import type { LeftOut } from "../report.ts";
import { element, fitsXml, textElement } from "../xml/write-xml.ts";
import { uuidBase64 } from "./uuid-base64.ts";
import { entryXml } from "./write-entry.ts";

interface Group {
  name: string;
  entries: string[];
  groups: Map<string, Group>;
}

/**
 * KeePass's XML (2.x), which KeePass imports and KeePassXC opens. Folders become groups. `newUuid` makes the groups' ids;
 * an entry's id is its record's. What XML cannot hold, control characters, is left out field by field.
 */
export function writeKeepassXml(
  records: readonly ExportRecord[],
  newUuid: () => string = () => crypto.randomUUID(),
): { text: string; leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const root: Group = { name: "Coffer", entries: [], groups: new Map() };
  for (const record of records) {
    let folder = record.payload["folder"] ?? "";
    if (!fitsXml(folder)) {
      leftOut.push({
        kind: "field",
        item: record.payload["name"] ?? record.id,
        reason: "XML cannot hold its folder's name",
      });
      folder = "";
    }
    let group = root;
    for (const name of splitFolder(folder)) {
      const next = group.groups.get(name) ?? { name, entries: [], groups: new Map<string, Group>() };
      group.groups.set(name, next);
      group = next;
    }
    group.entries.push(entryXml(record, leftOut));
  }
  const meta = element("Meta", textElement("Generator", "Coffer") + textElement("RecycleBinEnabled", "False"));
  const body = element("KeePassFile", `\n${meta}\n${element("Root", `\n${groupXml(root, newUuid)}\n`)}\n`);
  return { text: `<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n${body}\n`, leftOut };
}

function groupXml({ name, entries, groups }: Group, newUuid: () => string): string {
  const inner = [...entries, ...[...groups.values()].map((group) => groupXml(group, newUuid))];
  const head = textElement("UUID", uuidBase64(newUuid())) + textElement("Name", name);
  return element("Group", [head, ...inner].map((line) => `\n${line}`).join("") + "\n");
}

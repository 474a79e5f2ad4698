import type { XmlElement } from "@rgrove/parse-xml";
import { decodeText } from "../decode-text.ts";
import { joinFolder } from "../folder-path.ts";
import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { newReading, type Reading } from "../report.ts";
import { childOf, childrenOf, elementsOf, readXml, textOf } from "../xml/read-xml.ts";
import { isOurs } from "./generator.ts";
import { readEntry, stringsOf } from "./read-entry.ts";
import { referencesIn } from "./references.ts";

/**
 * Reads KeePass's XML (2.x) of KeePass, KeePassXC and related programs. Groups become folders; the
 * outermost group is the database and gives no name. Throws ImportError `broken`, `refused`,
 * `wrong_format`, `encrypted`.
 */
export function readKeepassXml(bytes: Uint8Array, include: Include): Reading {
  const file = readXml(decodeText(bytes));
  const roots = childrenOf(file, "Root");
  const groups = roots.flatMap((root) => childrenOf(root, "Group"));
  const loose = roots.flatMap((root) => childrenOf(root, "Entry"));
  if (file.name !== "KeePassFile" || groups.length + loose.length === 0)
    throw new ImportError(
      "wrong_format",
      "this is no keepass-xml: the element KeePassFile with Root and Group was expected",
    );
  const meta = childOf(file, "Meta");
  const bin = textOf(meta, "RecycleBinEnabled") === "True" ? textOf(meta, "RecycleBinUUID") : "";
  const reading = newReading();
  // A text in the form of a reference in a file of ours is not one: it must not be resolved to
  // another record's value.
  const lookUp = isOurs(meta)
    ? undefined
    : referencesIn(
        [...loose, ...groups.flatMap((group) => entriesBelow(group))].map((entry) => [
          textOf(entry, "UUID"),
          stringsOf(entry).values,
        ]),
      );
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
    for (const setting of groupSettings(group))
      reading.leftOut.push({ kind: "setting", item: null, reason: `${setting} of the group "${folder}"` });
    for (const entry of childrenOf(group, "Entry")) readEntry(entry, { folder, lookUp, reading });
    for (const child of childrenOf(group, "Group")) walk(child, [...path, textOf(child, "Name")]);
  };
  for (const entry of loose) readEntry(entry, { folder: "", lookUp, reading });
  // Several databases in one file become one folder each.
  for (const group of groups) walk(group, groups.length === 1 ? [] : [textOf(group, "Name")]);
  for (const setting of fileSettings(file)) reading.leftOut.push({ kind: "setting", item: null, reason: setting });
  return reading;
}

/** Elements of a group that are read, or that only concern its appearance. */
const ofEachGroup = [
  ...[
    "UUID",
    "Name",
    "Notes",
    "Entry",
    "Group",
    "IconID",
    "CustomIconUUID",
    "Times",
    "IsExpanded",
    "LastTopVisibleEntry",
  ],
  ...["DefaultAutoTypeSequence", "EnableAutoType", "EnableSearching", "PreviousParentGroup"],
];

function groupSettings(group: XmlElement): string[] {
  return [
    ...(textOf(group, "DefaultAutoTypeSequence") === "" ? [] : ["the auto-type"]),
    ...(textOf(childOf(group, "Times"), "Expires") === "True" ? ["the expiry"] : []),
    ...elementsOf(group)
      .filter(({ name, text }) => !ofEachGroup.includes(name) && text.trim() !== "")
      .map(({ name }) => `the element ${name}`),
  ];
}

/** Elements besides those that are read: `DeletedObjects` contains only ids. */
function fileSettings(file: XmlElement): string[] {
  const ofRoots = childrenOf(file, "Root").flatMap((root) =>
    elementsOf(root).filter(({ name }) => !["Group", "Entry", "DeletedObjects"].includes(name)),
  );
  const ofFile = elementsOf(file).filter(({ name }) => !["Meta", "Root"].includes(name));
  const described = textOf(childOf(file, "Meta"), "DatabaseDescription") !== "";
  return [
    ...(described ? ["the description of the database"] : []),
    ...[...ofFile, ...ofRoots]
      .filter(({ text }) => text.trim() !== "")
      .map(({ name }) => `the element ${name}, which is not known`),
  ];
}

/** Appends all entries of a group and its subgroups to `found`. */
function entriesBelow(group: XmlElement, found: XmlElement[] = []): XmlElement[] {
  for (const entry of childrenOf(group, "Entry")) found.push(entry);
  for (const inner of childrenOf(group, "Group")) entriesBelow(inner, found);
  return found;
}

import { type Draft, newDraft } from "../draft.ts";
import type { Include } from "../include.ts";
import { asObject, asObjects, asText, type Loose, otherMembers, strayTexts } from "../loose.ts";
import type { LeftOutKind, Reading } from "../report.ts";
import { categories, type Category, kindNames } from "./categories.ts";
import { fieldValue, otherValues } from "./field-value.ts";

export interface ItemContext {
  /** The folder of its vault. */
  folder: string;
  include: Include;
  reading: Reading;
}

type LeaveOut = (kind: LeftOutKind, reason: string) => void;

const ofEachItem = [
  "uuid",
  "favIndex",
  "createdAt",
  "updatedAt",
  "state",
  "trashed",
  "categoryUuid",
  "details",
  "overview",
];
const detailNames = ["loginFields", "notesPlain", "sections", "passwordHistory", "documentAttributes", "password"];
/**
 * Members of an overview that are read, or that 1Password derives from other fields: a subtitle,
 * the strength of the password.
 */
const ofEachOverview = [
  ...["title", "subtitle", "ainfo", "url", "urls", "tags", "icons", "iconUrl"],
  ...["ps", "pbe", "pgrng", "watchtowerExclusions"],
];
/** Members of each field besides its value: hints for its input. */
const ofEachField = [
  ...["id", "title", "value", "guarded", "multiline", "dontGenerate", "inputTraits", "indexAtSource"],
  ...["placeholder", "clipboardFilter"],
];
const note: Category = { type: "secure_note", fields: {} };

/** One item of a 1PUX, as a record. */
export function readItem(item: Loose, { folder, include, reading }: ItemContext): void {
  const [overview, details] = [asObject(item["overview"]), asObject(item["details"])];
  const name = asText(overview["title"]);
  const leaveOut: LeaveOut = (kind, reason) => void reading.leftOut.push({ kind, item: name, reason });
  const state = asText(item["state"]);
  if (state === "archived" && !include.archived) {
    leaveOut("item", "it is archived");
    return;
  }
  if ((state === "deleted" || state === "trashed" || item["trashed"] === true) && !include.deleted) {
    leaveOut("item", "it is in the bin");
    return;
  }

  const code = asText(item["categoryUuid"]);
  const category = categories.get(code) ?? note;
  const draft = newDraft(category.type, name);
  if (category === note) draft.set("kind", kindNames.get(code) ?? `1password ${code}`);
  readLoginFields(draft, details);
  readUrls(draft, overview);
  for (const section of asObjects(details["sections"])) readSection(draft, section, category, leaveOut);
  draft.set("notes", asText(details["notesPlain"]));
  const hasContent = draft.holdsMoreThan(["name", "kind"]);

  const file = asObject(details["documentAttributes"]);
  if (asText(file["documentId"]) !== "") {
    leaveOut("attachment", `the file "${asText(file["fileName"])}"`);
    if (!hasContent) {
      leaveOut("item", "it is a file and nothing else");
      return;
    }
  }
  const history = asObjects(details["passwordHistory"]).length;
  if (history > 0) leaveOut("history", `earlier passwords: ${history}`);
  readTheRest(draft, item);
  // A file of ours has the folder in a field when 1Password has no vault with such a path.
  if (!draft.has("folder")) draft.set("folder", folder);
  readOverview(draft, item, overview);
  if (state === "archived") draft.set("archived", "true");
  reading.records.push(draft.finish());
}

function readOverview(draft: Draft, item: Loose, overview: Loose): void {
  const tags: unknown = overview["tags"];
  draft.set("tags", (Array.isArray(tags) ? tags : []).map(asText).join("\n"));
  if (typeof item["favIndex"] === "number" && item["favIndex"] > 0) draft.set("favorite", "true");
  draft.set("original_created_at", momentOf(item["createdAt"]));
  draft.set("original_updated_at", momentOf(item["updatedAt"]));
}

/**
 * The first address is stored separately too. `website` is 1Password's label of an address without
 * one.
 */
function readUrls(draft: Draft, overview: Loose): void {
  const urls = asObjects(overview["urls"]).map(({ url, label }) => ({ url: asText(url), label: asText(label) }));
  for (const { url, label } of urls) draft.addUri(url, { label: label === "website" ? "" : label });
  for (const url of strayTexts(overview["urls"])) draft.addUri(url);
  const first = asText(overview["url"]);
  if (!urls.some(({ url }) => url === first)) draft.addUri(first);
}

/** The fields of the web form: two of them are designated, the others belong to the page. */
function readLoginFields(draft: Draft, details: Loose): void {
  for (const field of asObjects(details["loginFields"])) {
    const value = asText(asObject(field["value"])["email_address"] ?? field["value"]);
    if (value === "") continue;
    const label = asText(field["name"]) || asText(field["id"]);
    if (field["designation"] === "username" || field["designation"] === "password")
      draft.set(field["designation"], value);
    else draft.custom(label, value, field["fieldType"] === "P" ? "hidden" : "text");
  }
  draft.set("password", asText(details["password"]));
}

function readSection(draft: Draft, section: Loose, { type, fields }: Category, leaveOut: LeaveOut): void {
  const sectionTitle = asText(section["title"]);
  for (const field of asObjects(section["fields"])) {
    const id = asText(field["id"]);
    const title = asText(field["title"]) || id;
    const label = sectionTitle === "" ? title : `${sectionTitle}: ${title}`;
    const value = fieldValue(field["value"]);
    for (const [key, text] of [...otherMembers(field, ofEachField), ...otherValues(field["value"])])
      draft.custom(`${label}: ${key}`, text);
    const ours = Object.hasOwn(fields, id) ? fields[id] : undefined;
    if (value.is === "file") leaveOut("attachment", `the attached file "${value.name}"`);
    else if (value.is === "reference") leaveOut("field", `"${label}", a link to another item`);
    else if (value.is === "totp" && !draft.has("totp_secret")) draft.set("totp_secret", value.text);
    else if (value.is === "totp") draft.custom(label, value.text, "hidden");
    else if (value.is === "ssh_key") setParts(draft, value.parts, type === "ssh_key" ? "" : label);
    else if (value.is === "address") setParts(draft, value.parts, type === "identity" ? "" : label);
    else if (value.is === "expiry" && type === "card" && id === "expiry")
      setParts(draft, { exp_month: value.month, exp_year: value.year }, "");
    else if (value.is === "expiry") draft.custom(label, `${value.year}-${value.month.padStart(2, "0")}`);
    else if (ours === "uri") draft.addUri(value.text);
    else if (ours !== undefined) draft.set(ours, value.text);
    else if (value.text !== "") draft.custom(label, value.text, value.kind);
  }
}

/** Parts of a value as fields; custom fields if the record's type has none for them. */
function setParts(draft: Draft, parts: Readonly<Record<string, string>>, label: string): void {
  for (const [key, text] of Object.entries(parts))
    if (label === "") draft.set(key, text);
    else if (text !== "") draft.custom(`${label}: ${key}`, text, key === "private_key" ? "hidden" : "text");
}

/** Unknown members, under their own names. */
function readTheRest(draft: Draft, item: Loose): void {
  const [overview, details] = [asObject(item["overview"]), asObject(item["details"])];
  const others = [
    ...otherMembers(item, ofEachItem),
    ...otherMembers(overview, ofEachOverview),
    ...otherMembers(details, detailNames),
  ];
  for (const [key, text] of others) draft.custom(key, text);
  for (const key of ["loginFields", "sections"]) for (const text of strayTexts(details[key])) draft.custom(key, text);
}

/** Seconds since 1970, as ISO 8601. */
function momentOf(seconds: unknown): string {
  const date = new Date(typeof seconds === "number" ? seconds * 1000 : Number.NaN);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

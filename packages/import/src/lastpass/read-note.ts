import { type Draft, newDraft } from "../draft.ts";
import { asText, isObject, otherMembers } from "../loose.ts";
import { hiddenNames, noteTypes } from "./note-types.ts";

/** A secure note: plain text, or a form of lines `Name:value` after its `NoteType:`. */
export function noteDraft(name: string, extra: string): Draft {
  const [, kind = ""] = /^NoteType:([^\r\n]*)/.exec(extra) ?? [];
  if (kind === "") {
    const draft = newDraft("secure_note", name);
    draft.set("notes", extra);
    return draft;
  }
  const known = noteTypes.get(kind);
  const fields = new Map(known?.fields.map(([theirs, ours]) => [theirs, ours]));
  const draft = newDraft(known?.type ?? "secure_note", name);
  if (known === undefined) draft.set("kind", kind);
  const names = known === undefined ? undefined : [...fields.keys(), ...known.others];
  // LastPass's command line adds a final line break.
  for (const [field, value] of formLines(extra.replace(/\r\n?/g, "\n").replace(/\n$/, ""), names)) {
    const ours = fields.get(field);
    if (field === "NoteType" || field === "Language" || value === "") continue;
    if (field === "Notes") draft.set("notes", value);
    else if (known?.type === "card" && field === "Expiration Date") setExpiry(draft, value);
    // An empty date is a comma.
    else if (/^,+$/.test(value)) continue;
    else if (ours !== undefined) draft.set(ours, ours === "phone" ? phoneOf(value) : value);
    else draft.custom(field, field.endsWith("Phone") || field === "Fax" ? phoneOf(value) : value, kindOf(field));
  }
  if (known?.type === "card" && kind !== "Credit Card" && !draft.has("brand")) draft.set("brand", kind);
  return draft;
}

function kindOf(field: string): "hidden" | "text" {
  return hiddenNames.test(field) ? "hidden" : "text";
}

/**
 * The fields of a form in order. A line that starts no field continues the previous one; the notes
 * are last and are taken unchanged. Keys have lines with colons, so after a key only the known
 * names of the form start a field.
 */
function formLines(extra: string, names: readonly string[] | undefined): [string, string][] {
  const found: [string, string][] = [];
  for (const line of extra.split("\n")) {
    const last = found.at(-1);
    const [, field = "", value = ""] = /^([^:]{1,80}):(.*)$/s.exec(line) ?? [];
    const expected = names === undefined || [...names, ...ofEachForm].includes(field) || !isKey.test(last?.[0] ?? "");
    if (field !== "" && last?.[0] !== "Notes" && expected) found.push([field, value]);
    else if (last !== undefined) last[1] += `\n${line}`;
    else found.push(["Notes", line]);
  }
  return found;
}

const ofEachForm = ["NoteType", "Language", "Notes"];
const isKey = /key$/i;

/** `March,2029`; either part may be missing. */
function setExpiry(draft: Draft, value: string): void {
  const [month = "", year = "", ...rest] = value.split(",");
  if (rest.some((part) => part.trim() !== "")) draft.custom("Expiration Date", value);
  const number = months.indexOf(month.trim().toLowerCase().slice(0, 3)) + 1;
  if (number > 0) draft.set("exp_month", String(number));
  else if (month.trim() !== "") draft.custom("Expiration Month", month.trim());
  draft.set("exp_year", year.trim());
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** LastPass stores phone numbers as JSON with the number, an extension and a country. */
function phoneOf(value: string): string {
  try {
    const phone: unknown = JSON.parse(value);
    // The number includes the country. A value with other members is returned unchanged.
    if (!isObject(phone) || otherMembers(phone, ["num", "ext", "cc3l"]).length > 0) return value;
    const extension = asText(phone["ext"]);
    return `${asText(phone["num"])}${extension === "" ? "" : ` ext. ${extension}`}`;
  } catch {
    return value;
  }
}

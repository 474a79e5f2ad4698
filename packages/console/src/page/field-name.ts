import { m } from "../messages/messages.ts";

/** The name of a record's field for a person: of a known one in their language, of their own as they gave it. */
export function fieldName(key: string): string {
  if (Object.hasOwn(m.fields, key)) return m.fields[key as keyof typeof m.fields]; // its own key
  const [, number] = /^uri_([1-9]\d*)$/.exec(key) ?? [];
  if (number !== undefined) return `${m.fields.uri} ${number}`;
  return key.replace(/^custom\./, "");
}

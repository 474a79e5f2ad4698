/** An unvalidated JSON object of another program. */
export type Loose = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one for other values. */
export function asObject(value: unknown): Loose {
  return isObject(value) ? value : {};
}

/** The objects of a list; none for other values. */
export function asObjects(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Values other than objects in an expected list of objects, as texts, so that they are not lost.
 */
export function strayTexts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .filter((entry) => !(Array.isArray(value) && isObject(entry)))
    .map(asText)
    .filter((text) => text !== "");
}

/** Whether a value has content: not null, an empty text, list or object, or `false`. */
export function saysSomething(value: unknown): boolean {
  return !["", "{}", "[]", "false"].includes(asText(value));
}

/** The members of an object that are not in `known` and have content, as texts. */
export function otherMembers(object: Loose, known: readonly string[]): [key: string, text: string][] {
  return Object.entries(object)
    .filter(([key, value]) => !known.includes(key) && saysSomething(value))
    .map(([key, value]) => [key, asText(value)]);
}

/**
 * The value as text, empty for none. Other values are written as JSON, so that they are not lost.
 */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

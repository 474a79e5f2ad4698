/** A JSON object that another program wrote: nothing is known of it until it is looked at. */
export type Loose = Readonly<Record<string, unknown>>;

/** Whether it is a JSON object. */
export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one where there is none. */
export function asObject(value: unknown): Loose {
  return isObject(value) ? value : {};
}

/** The objects of a list; none where there is no list. */
export function asObjects(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** What stands where a list of objects was expected and is none, as texts: so that it is not lost. */
export function strayTexts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .filter((entry) => !(Array.isArray(value) && isObject(entry)))
    .map(asText)
    .filter((text) => text !== "");
}

/** Whether a value says something: not nothing, an empty text, list or object, or `false`. */
export function saysSomething(value: unknown): boolean {
  return !["", "{}", "[]", "false"].includes(asText(value));
}

/** The members of an object that are not among `known` and say something, as texts. */
export function otherMembers(object: Loose, known: readonly string[]): [key: string, text: string][] {
  return Object.entries(object)
    .filter(([key, value]) => !known.includes(key) && saysSomething(value))
    .map(([key, value]) => [key, asText(value)]);
}

/** The value as text, and nothing for nothing. What is no text is written as JSON, so that it is not lost. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A place in an answer: names of members and numbers of items, from the root. */
export type Place = readonly (string | number)[];

/** The value at a place; undefined when there is none. */
export function at(value: unknown, place: Place): unknown {
  return place.reduce<unknown>(
    (inside, name) => (isObject(inside) ? (inside as Record<string | number, unknown>)[name] : undefined),
    value,
  );
}

/** All values of this name, at any depth; for a number the items of all lists. */
export function valuesAt(value: unknown, name: string | number): unknown[] {
  if (!isObject(value)) return [];
  const inside = Object.values(value).flatMap((one) => valuesAt(one, name));
  if (Array.isArray(value)) return typeof name === "number" ? [...(value as unknown[]), ...inside] : inside;
  return name in value ? [(value as Record<string | number, unknown>)[name], ...inside] : inside;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

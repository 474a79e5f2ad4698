import type { Schema } from "./description.ts";
import { isMapping } from "./document.ts";

/**
 * Compares the schema of a route with the described one: field names, required fields, kinds of values,
 * the words of a closed set. Ignores parts that the route leaves open.
 * @returns the differences, a line each
 */
export function shapeProblems(real: Schema, described: Schema, place: string): string[] {
  const [mine, theirs] = [fieldsOf(real), fieldsOf(described)];
  if (mine === undefined) return [...kindProblems(real, described, place), ...itemProblems(real, described, place)];
  if (theirs === undefined) return [`${place} is described without fields`];
  const problems: string[] = [];
  for (const name of Object.keys(mine.properties))
    if (!(name in theirs.properties)) problems.push(`${place}.${name} is not described`);
  for (const [name, schema] of Object.entries(theirs.properties)) {
    const known = mine.properties[name];
    if (known === undefined) problems.push(`${place}.${name} is described and not known`);
    else problems.push(...shapeProblems(known, schema, `${place}.${name}`));
    if (known !== undefined && mine.required.has(name) !== theirs.required.has(name))
      problems.push(`${place}.${name} is ${mine.required.has(name) ? "" : "not "}required`);
  }
  return problems;
}

interface Fields {
  properties: Record<string, Schema>;
  required: Set<string>;
}

/** The fields of an object, also of its combined parts; undefined without named fields. */
function fieldsOf(schema: Schema): Fields | undefined {
  const parts = [schema, ...(Array.isArray(schema["allOf"]) ? schema["allOf"] : [])].filter(isMapping);
  const found: Fields = { properties: {}, required: new Set() };
  for (const { properties, required, allOf } of parts) {
    for (const [name, value] of Object.entries(isMapping(properties) ? properties : {}))
      if (isMapping(value)) found.properties[name] = value;
    for (const name of Array.isArray(required) ? required : []) if (typeof name === "string") found.required.add(name);
    if (allOf !== undefined && parts[0]?.["allOf"] !== allOf) throw new Error("allOf inside allOf");
  }
  return parts.some(({ properties }) => isMapping(properties)) ? found : undefined;
}

function kindProblems(real: Schema, described: Schema, place: string): string[] {
  const [mine, theirs] = [wordsOf(real), wordsOf(described)];
  if (mine !== undefined || theirs !== undefined)
    return mine === theirs ? [] : [`${place} is one of ${mine ?? "any"}, described ${theirs ?? "any"}`];
  const [kind, other] = [real["type"], described["type"]];
  if (kind === undefined || other === undefined || JSON.stringify(kind) === JSON.stringify(other)) return [];
  return [`${place} is ${JSON.stringify(kind)}, described ${JSON.stringify(other)}`];
}

function wordsOf({ enum: words, const: word }: Schema): string | undefined {
  if (word !== undefined) return JSON.stringify([word]);
  return Array.isArray(words) ? JSON.stringify(words.toSorted()) : undefined;
}

function itemProblems(real: Schema, described: Schema, place: string): string[] {
  const [mine, theirs] = [real["items"], described["items"]];
  if (!isMapping(mine)) return [];
  return isMapping(theirs) ? shapeProblems(mine, theirs, `${place}[]`) : [`${place} is described without items`];
}

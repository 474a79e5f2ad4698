import type { Schema } from "./description.ts";
import { isMapping, mapped, type Node } from "./document.ts";

const combiners = new Set(["allOf", "anyOf", "oneOf"]);
/** Keywords whose values are schemas by name, and those whose value is a schema. */
const named = new Set(["properties", "patternProperties", "$defs"]);
const single = new Set(["items", "additionalProperties", "contains", "propertyNames"]);

/**
 * The same schema with every object closed: no fields besides the named ones, unless it defines them
 * itself. The description leaves objects open, because readers must accept unknown fields; a response
 * of this version must be described.
 */
export function closed(schema: Schema): Schema {
  return walk(schema, true);
}

/** `whole` is false for a part of a combination: only the combination is closed. */
function walk(schema: Schema, whole: boolean): Schema {
  const changed = mapped(schema, (value, name) => {
    if (combiners.has(name) && Array.isArray(value)) return value.map((part) => sub(part, false));
    if (named.has(name) && isMapping(value)) return mapped(value, (part) => sub(part, true));
    return single.has(name) ? sub(value, true) : value;
  });
  const isObject = Object.keys(schema).some((name) => name === "properties" || combiners.has(name));
  const says = "additionalProperties" in schema || "unevaluatedProperties" in schema;
  return whole && isObject && !says ? { ...changed, unevaluatedProperties: false } : changed;
}

function sub(node: Node, whole: boolean): Node {
  return isMapping(node) ? walk(node, whole) : node;
}

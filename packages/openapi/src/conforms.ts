import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Schema } from "./description.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** RFC 3339 takes `t` and `z` for `T` and `Z`. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
ajv.addFormat("uuid", uuid);
ajv.addFormat("date-time", {
  validate: (text: string) => dateTime.test(text) && !Number.isNaN(Date.parse(text.toUpperCase())),
});

const compiled = new WeakMap<Schema, ValidateFunction>();

/** The violations of a schema, a line each; none for a valid value. Never quotes the value. */
export function problemsOf(schema: Schema, value: unknown): string[] {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    compiled.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message = "", params }) => {
    const field: unknown = params["unevaluatedProperty"] ?? params["additionalProperty"];
    return `${instancePath || "/"} ${message}${typeof field === "string" ? `: ${JSON.stringify(field)}` : ""}`;
  });
}

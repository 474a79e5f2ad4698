import { problemsOf } from "./conforms.ts";
import type { Operation, Parameter, Schema } from "./description.ts";
import { type Exchange, parseJson, splitTarget } from "./exchange.ts";
import { pathValues } from "./find-operation.ts";

/** Every deviation of an accepted request from the description, a line each. */
export function requestProblems(operation: Operation, exchange: Exchange): string[] {
  return [
    ...operation.parameters.flatMap((parameter) => parameterProblems(operation, parameter, exchange)),
    ...bodyProblems(operation, exchange),
    ...securityProblems(operation, exchange),
  ];
}

function parameterProblems(operation: Operation, parameter: Parameter, exchange: Exchange): string[] {
  const { name, required, schema } = parameter;
  const place = `${parameter.in} parameter ${name}`;
  const values = valuesOf(operation, parameter, exchange);
  if (values.length === 0) return required ? [`the ${place} is missing`] : [];
  if (values.length > 1) return [`the ${place} comes more than once`];
  return problemsOf(schema, typed(schema, values[0])).map((problem) => `the ${place}: ${problem}`);
}

function valuesOf(operation: Operation, parameter: Parameter, { target, requestHeaders }: Exchange): unknown[] {
  const { path, query } = splitTarget(target);
  if (parameter.in === "query") return query.getAll(parameter.name);
  const value =
    parameter.in === "path" ? pathValues(operation, path)[parameter.name] : requestHeaders.get(parameter.name);
  return value === null || value === undefined ? [] : [value];
}

/** Numbers travel as text outside a body. */
function typed(schema: Schema, value: unknown): unknown {
  return schema["type"] === "integer" && typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
}

function bodyProblems({ body }: Operation, { requestBody, requestHeaders }: Exchange): string[] {
  if (body === undefined || requestHeaders.get("content-encoding") !== null) return [];
  if (requestBody === undefined) return ["the request's body is missing"];
  const type = requestHeaders.get("content-type") ?? "";
  if (!body.anyContentType && !/^application\/json\s*(?:;|$)/i.test(type.trim()))
    return [`the request's content type is ${type}`];
  const value = parseJson(requestBody);
  if (value === undefined) return ["the request's body is no JSON"];
  return problemsOf(body.schema, value).map((problem) => `the request's body: ${problem}`);
}

function securityProblems({ security }: Operation, { requestHeaders }: Exchange): string[] {
  if (security.length === 0 || /^bearer /i.test(requestHeaders.get("authorization") ?? "")) return [];
  return ["the request had no bearer token"];
}

import type { Route } from "@coffer/http";
import { z } from "zod";
import type { Description, Operation, Schema } from "./description.ts";
import { shapeProblems } from "./compare-shapes.ts";

/** The parts of a route that the description covers. */
export type DescribedRoute = Pick<
  Route<never>,
  "method" | "path" | "bucket" | "query" | "body" | "bodyLimitBytes" | "status"
>;

/**
 * Compares route tables with the description, both ways: every route is described, every described
 * operation has a route, and bucket, callers, success status, parameters, and the fields of query and
 * body agree.
 * @param schemesOf the security schemes of a route, one of which is required; none for anonymous callers
 * @returns the differences, a line each
 */
export function routeProblems<SomeRoute extends DescribedRoute>(
  description: Description,
  routes: readonly SomeRoute[],
  schemesOf: (route: SomeRoute) => readonly string[],
): string[] {
  const left = new Map(description.operations.map((operation) => [`${operation.method} ${operation.path}`, operation]));
  const problems = routes.flatMap((route) => {
    const name = `${route.method} ${route.path.replace(/:([^/]+)/g, "{$1}")}`;
    const operation = left.get(name);
    left.delete(name);
    if (operation === undefined) return [`${name} has a route and no description in docs/spec/api`];
    return [
      ...formProblems(route, operation, schemesOf(route)),
      ...pathProblems(operation),
      ...queryProblems(route, operation),
      ...bodyProblems(route, operation),
    ].map((problem) => `${name}: ${problem}`);
  });
  return [...problems, ...Array.from(left.keys(), (name) => `${name} is described and has no route`)];
}

function formProblems(route: DescribedRoute, operation: Operation, schemes: readonly string[]): string[] {
  const problems: string[] = [];
  const compare = (what: string, real: string, described: string): void => {
    if (real !== described) problems.push(`${what} is ${real}, described ${described}`);
  };
  const successes = Array.from(operation.answers.keys()).filter((status) => status >= 200 && status < 300);
  compare("the bucket", route.bucket, operation.bucket);
  compare("the caller", named(schemes), named(operation.security));
  compare("success", String(route.status), successes.join(" "));
  return problems;
}

function pathProblems({ path, parameters }: Operation): string[] {
  const names = Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name = ""]) => name);
  const described = parameters.filter((parameter) => parameter.in === "path");
  const same = named(names) === named(described.map(({ name }) => name));
  return same && described.every(({ required }) => required) ? [] : ["its path's parameters are described otherwise"];
}

function queryProblems({ query }: DescribedRoute, { parameters }: Operation): string[] {
  const described = parameters.filter((parameter) => parameter.in === "query");
  const properties = Object.fromEntries(described.map(({ name, schema }) => [name, untyped(schema)]));
  const required = described.flatMap((parameter) => (parameter.required ? [parameter.name] : []));
  const real = query === undefined ? { type: "object", properties: {} } : inputOf(query);
  return shapeProblems(real, { type: "object", properties, required }, "query");
}

/** A query parameter is text on the wire. */
function untyped(schema: Schema): Schema {
  const { type, ...rest } = schema;
  return type === "integer" ? rest : schema;
}

function bodyProblems({ body, bodyLimitBytes }: DescribedRoute, { body: described }: Operation): string[] {
  if (body === undefined || body === "raw")
    return (body === undefined) === (described === undefined) ? [] : ["the body is described otherwise"];
  if (described === undefined) return ["the body is not described"];
  const limit =
    bodyLimitBytes === described.limitBytes ? [] : [`the body's limit is ${bodyLimitBytes} bytes (x-limit-bytes)`];
  return [...limit, ...shapeProblems(inputOf(body), described.schema, "body")];
}

function inputOf(schema: z.ZodType): Schema {
  // JSON Schema is data.
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
}

function named(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.toSorted().join(" ");
}

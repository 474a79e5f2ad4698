import { closed } from "./closed.ts";
import { problemsOf } from "./conforms.ts";
import type { AnswerForm, Operation, Schema } from "./description.ts";
import { type Exchange, parseJson } from "./exchange.ts";

/** Headers of HTTP, not of the interface: they need no description. */
const transport = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
]);

/** The rules that the description states in words for every response. */
const everywhere: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

const closedForms = new WeakMap<Schema, Schema>();

/** Every deviation of a response from an operation's description, a line each. */
export function answerProblems(operation: Operation, exchange: Exchange): string[] {
  const form = operation.answers.get(exchange.status);
  if (form === undefined) return [`the status ${exchange.status} is not described: ${exchange.body.slice(0, 300)}`];
  return [...formProblems(form, exchange), ...bucketProblems(operation, exchange)];
}

/** As `checkAnswer`, for a response of an unknown operation. */
export function formProblems(form: AnswerForm, exchange: Exchange): string[] {
  return [...headerProblems(form, exchange.headers), ...bodyProblems(form.schema, exchange)];
}

function headerProblems({ headers: described }: AnswerForm, headers: Headers): string[] {
  const problems: string[] = [];
  for (const [name, { required, schema }] of described) {
    const value = headers.get(name);
    if (value === null) {
      if (required) problems.push(`the header ${name} is missing`);
      continue;
    }
    const typed = schema["type"] === "integer" && /^-?\d+$/.test(value) ? Number(value) : value;
    problems.push(...problemsOf(schema, typed).map((problem) => `the header ${name}: ${problem}`));
  }
  for (const [name, value] of Object.entries(everywhere))
    if (headers.get(name) !== value) problems.push(`the header ${name} must be ${value}`);
  for (const name of headers.keys())
    if (!described.has(name) && !transport.has(name) && !(name in everywhere))
      problems.push(`the header ${name} is not described`);
  return problems;
}

function bodyProblems(schema: Schema | undefined, { method, headers, body }: Exchange): string[] {
  if (method === "HEAD" || schema === undefined) return body === "" ? [] : ["there is a body"];
  const type = headers.get("content-type");
  if (type !== "application/json; charset=utf-8") return [`the content type is ${type ?? "missing"}`];
  const value = parseJson(body);
  if (value === undefined) return ["the body is no JSON"];
  let form = closedForms.get(schema);
  if (form === undefined) {
    form = closed(schema);
    closedForms.set(schema, form);
  }
  return problemsOf(form, value).map((problem) => `the body: ${problem}`);
}

function bucketProblems({ bucket }: Operation, { headers }: Exchange): string[] {
  const policy = headers.get("ratelimit-policy");
  return policy === null || policy.startsWith(`"${bucket}";`) ? [] : [`the bucket is not ${bucket}: ${policy}`];
}

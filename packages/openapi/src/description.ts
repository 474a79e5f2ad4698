import type { Method } from "@coffer/http";
import { isMapping, type Mapping, type Node, readDocument } from "./document.ts";
import { createFind } from "./find-operation.ts";

/** A JSON Schema (2020-12) of the description, without references. */
export type Schema = Mapping;

/** A parameter of an operation, as its caller sends it. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

/** A JSON body. */
export interface RequestBody {
  readonly schema: Schema;
  readonly limitBytes: number;
  /** Whether the JSON may have any content type (`x-any-content-type`). */
  readonly anyContentType: boolean;
  /** Example bodies, at least one. */
  readonly examples: readonly Node[];
}

/** One response status of an operation. */
export interface AnswerForm {
  readonly headers: ReadonlyMap<string, { required: boolean; schema: Schema }>;
  /** Of the JSON body; undefined without one. */
  readonly schema: Schema | undefined;
  readonly examples: readonly Node[];
}

/** One method of one path. */
export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** With its parameters in braces, `/api/sm/v1/secrets/{uid}`. */
  readonly path: string;
  readonly bucket: string;
  /** The names of the security schemes, one of which is required. None: anonymous callers. */
  readonly security: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody | undefined;
  readonly answers: ReadonlyMap<number, AnswerForm>;
}

export interface Description {
  readonly operations: readonly Operation[];
  /** The operation of a method and request path; undefined without a description. */
  find(method: string, path: string): Operation | undefined;
}

/** The description in a checkout. */
export const descriptionFile = new URL("../../../docs/spec/api/openapi.yaml", import.meta.url);

const methods = { get: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" } as const;
const mebibyte = 1024 * 1024;

let known: Description | undefined;

/** The description of the interface, read once per process. Throws Error if it is malformed. */
export function loadDescription(): Description {
  known ??= describe(readDocument(descriptionFile));
  return known;
}

/** The operations of a document. Throws Error if a required part is missing. */
export function describe(document: Mapping): Description {
  const operations = Object.entries(mapping(document["paths"], "paths")).flatMap(([path, item]) =>
    Object.entries(methods).flatMap(([name, method]) => {
      const operation = mapping(item, path)[name];
      return operation === undefined ? [] : [operationOf(method, path, mapping(operation, path))];
    }),
  );
  return { operations, find: createFind(operations) };
}

function operationOf(method: Method, path: string, node: Mapping): Operation {
  const place = `${method} ${path}`;
  const answers = Object.entries(mapping(node["responses"], place));
  return {
    id: text(node["operationId"], `${place} operationId`),
    method,
    path,
    bucket: text(node["x-bucket"], `${place} x-bucket`),
    security: list(node["security"]).flatMap((choice) => Object.keys(mapping(choice, place))),
    parameters: list(node["parameters"]).map((parameter) => parameterOf(mapping(parameter, place), place)),
    body: node["requestBody"] === undefined ? undefined : bodyOf(mapping(node["requestBody"], place), place),
    answers: new Map(answers.map(([status, answer]) => [Number(status), answerOf(mapping(answer, place), place)])),
  };
}

function parameterOf(node: Mapping, place: string): Parameter {
  const where = text(node["in"], `${place} parameter`);
  if (where !== "path" && where !== "query" && where !== "header") throw new Error(`${place}: a parameter in ${where}`);
  return {
    name: text(node["name"], `${place} parameter`),
    in: where,
    required: node["required"] === true,
    schema: mapping(node["schema"], `${place} parameter`),
  };
}

function bodyOf(node: Mapping, place: string): RequestBody {
  const { schema, examples } = contentOf(node, `${place} requestBody`) ?? {};
  if (schema === undefined || examples === undefined) throw new Error(`${place}: a body without JSON`);
  if (examples.length === 0) throw new Error(`${place}: a body without an example`);
  const limit = node["x-limit-bytes"];
  const anyContentType = node["x-any-content-type"] === true;
  return { schema, examples, limitBytes: typeof limit === "number" ? limit : mebibyte, anyContentType };
}

function answerOf(node: Mapping, place: string): AnswerForm {
  const headers = Object.entries(node["headers"] === undefined ? {} : mapping(node["headers"], place));
  const content = contentOf(node, place);
  return {
    headers: new Map(
      headers.map(([name, header]) => {
        const { required, schema } = mapping(header, `${place} ${name}`);
        return [name.toLowerCase(), { required: required === true, schema: mapping(schema, `${place} ${name}`) }];
      }),
    ),
    schema: content?.schema,
    examples: content?.examples ?? [],
  };
}

function contentOf(node: Mapping, place: string): { schema: Schema; examples: Node[] } | undefined {
  if (node["content"] === undefined) return undefined;
  const media = mapping(mapping(node["content"], place)["application/json"], `${place} application/json`);
  const named = media["examples"] === undefined ? {} : mapping(media["examples"], place);
  const examples = Object.values(named).map((example) => mapping(example, place)["value"] ?? null);
  if (media["example"] !== undefined) examples.unshift(media["example"]);
  return { schema: mapping(media["schema"], place), examples };
}

function mapping(node: Node | undefined, place: string): Mapping {
  if (!isMapping(node)) throw new Error(`${place}: names and values are missing`);
  return node;
}

function text(node: Node | undefined, place: string): string {
  if (typeof node !== "string") throw new Error(`${place}: a text is missing`);
  return node;
}

function list(node: Node | undefined): Node[] {
  return Array.isArray(node) ? node : [];
}

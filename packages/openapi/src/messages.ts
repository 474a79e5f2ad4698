import { closed } from "./closed.ts";
import { problemsOf } from "./conforms.ts";
import type { Schema } from "./description.ts";
import { isMapping, type Mapping, type Node, readDocument } from "./document.ts";

/** The sender on the WebSocket. */
export type Speaker = "client" | "server";

/** A message of the WebSocket's description. */
export interface DescribedMessage {
  readonly id: string;
  readonly speaker: Speaker;
  readonly schema: Schema;
  readonly examples: readonly Node[];
}

/** The description of the WebSocket in a checkout. */
export const messagesFile = new URL("../../../docs/spec/sync/asyncapi.yaml", import.meta.url);

let known: readonly DescribedMessage[] | undefined;

/** The messages of the WebSocket, read once per process. Throws Error for a malformed description. */
export function loadMessages(): readonly DescribedMessage[] {
  known ??= Object.entries(messagesOf(readDocument(messagesFile))).map(([id, message]) => messageOf(id, message));
  return known;
}

/**
 * Every deviation of a message from the description, a line each. All fields of the server's messages
 * must be described.
 */
export function messageProblems(speaker: Speaker, value: unknown): string[] {
  const candidates = loadMessages().filter((message) => message.speaker === speaker);
  const problems = candidates.map(({ id, schema }) =>
    problemsOf(speaker === "server" ? closedForm(schema) : schema, value).map((problem) => `as ${id}: ${problem}`),
  );
  return problems.some(({ length }) => length === 0) ? [] : problems.flat();
}

const closedForms = new WeakMap<Schema, Schema>();

function closedForm(schema: Schema): Schema {
  let form = closedForms.get(schema);
  if (form === undefined) {
    form = closed(schema);
    closedForms.set(schema, form);
  }
  return form;
}

function messagesOf(document: Mapping): Mapping {
  return mapping(mapping(document["components"], "components")["messages"], "components messages");
}

function messageOf(id: string, node: Node): DescribedMessage {
  const message = mapping(node, id);
  const examples = Array.isArray(message["examples"]) ? message["examples"] : [];
  return {
    id,
    speaker: id.endsWith("Request") ? "client" : "server",
    schema: mapping(message["payload"], `${id} payload`),
    examples: examples.map((example) => mapping(example, `${id} example`)["payload"] ?? null),
  };
}

function mapping(node: Node | undefined, place: string): Mapping {
  if (!isMapping(node)) throw new Error(`${place}: names and values are missing`);
  return node;
}

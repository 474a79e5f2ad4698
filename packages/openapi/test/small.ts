import type { Description } from "../src/index.ts";
import { describe } from "../src/description.ts";
import { readDocument } from "../src/document.ts";
import { testDirectory, type TestScope } from "@coffer/testkit";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A description of a few operations that covers every rule. */
const document = `
paths:
  /api/things:
    post:
      operationId: createThing
      x-bucket: user
      security: [{ person: [] }]
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties:
                name: { type: string, minLength: 1 }
                kind: { enum: [a, b] }
            example: { name: x }
      responses:
        "201":
          description: Made.
          headers: &headers
            X-Request-Id: { required: true, schema: { type: string } }
            RateLimit-Policy: { required: true, schema: { type: string } }
            ETag: { schema: { type: string } }
          content: { application/json: { schema: { $ref: "parts.yaml#/Thing" } } }
        "409":
          description: Taken.
          headers: *headers
          content: { application/json: { schema: { $ref: "parts.yaml#/Error" } } }
  /api/things/{id}:
    get:
      operationId: readThing
      x-bucket: user
      security: []
      parameters:
        - { name: id, in: path, required: true, schema: { type: string, pattern: "^[0-9]+$" } }
        - { name: limit, in: query, schema: { type: integer, maximum: 3 } }
      responses:
        "200":
          description: The thing.
          headers: *headers
          content: { application/json: { schema: { $ref: "parts.yaml#/Thing" } } }
        "204": { description: Nothing., headers: *headers }
  /api/things/any:
    post:
      operationId: receiveAnything
      x-bucket: user
      security: []
      requestBody:
        required: true
        x-any-content-type: true
        content: { application/json: { schema: { description: Any JSON. }, example: {} } }
      responses: { "204": { description: Nothing., headers: *headers } }
  /api/things/first:
    get:
      operationId: readFirst
      x-bucket: user
      security: []
      responses: { "204": { description: Nothing. } }
`;

const parts = `
Thing:
  type: object
  required: [id, owner]
  properties:
    id: { type: string }
    at: { type: string, format: date-time }
    owner:
      allOf:
        - { $ref: "#/Person" }
        - { type: object, properties: { nick: { type: string } } }
    tags: { type: object, additionalProperties: { type: string } }
Person: { type: object, required: [name], properties: { name: { type: string } } }
Error: { type: object, required: [error], properties: { error: { type: string } } }
`;

/** The description as files, as in a checkout. */
export function smallDescription(t: TestScope): Description {
  return describe(readDocument(writeFiles(t, { "openapi.yaml": document, "parts.yaml": parts })));
}

/** Writes files into a folder of the test; returns the URL of the first. */
export function writeFiles(t: TestScope, files: Record<string, string>): URL {
  const directory = testDirectory(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return pathToFileURL(join(directory, Object.keys(files)[0] ?? ""));
}

import { randomBytes, randomUUID } from "node:crypto";
import type { Operation, Schema } from "@coffer/openapi";
import type { RightRequest } from "./malform.ts";
import { sealed } from "./props.ts";
import type { Stage } from "./stage.ts";

/** The objects of path parameters, by the path before them. The last match counts. */
const nouns: readonly [path: RegExp, noun: string][] = [
  [/\/folders\/\{[a-z_]+\}$/, "folder"],
  [/\/applications\/\{id\}$/, "application"],
  [/\/tokens\/\{[a-z_]+\}$/, "token"],
  [/\/clients\/\{[a-z_]+\}$/, "client"],
  [/\/invites\/\{[a-z_]+\}$/, "invite"],
  [/\/(?:members|users)\/\{[a-z_]+\}$/, "user"],
  [/\/secrets\/\{[a-z_]+\}$/, "secret"],
  [/\/vaults\/\{[a-z_]+\}$/, "vault"],
  [/\/records\/\{[a-z_]+\}$/, "record"],
  [/\/webhooks\/\{[a-z_]+\}$/, "webhook"],
  [/^\/api\/auth\/sessions\/\{[a-z_]+\}$/, "own_session"],
  [/\/members\/\{[a-z_]+\}\/sessions\/\{[a-z_]+\}$/, "session"],
];

/** A valid request of the operation, about objects of the stage. */
export function rightRequest({ path, parameters, body }: Operation, stage: Stage): RightRequest {
  const target = path.replace(/\{[^}]+\}/g, (_, at: number) => {
    const upTo = path.slice(0, path.indexOf("}", at) + 1);
    if (upTo.endsWith("/fields/{field}")) return "password";
    const noun = nouns.findLast(([form]) => form.test(upTo))?.[1];
    return (noun === undefined ? undefined : stage.ids[noun]) ?? randomUUID();
  });
  const needed = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = needed.map(({ name, schema }) => `${name}=${wordOf(schema)}`).join("&");
  return {
    target: query === "" ? target : `${target}?${query}`,
    headers: [],
    body: body === undefined ? undefined : freshBody(body.examples[0], stage),
  };
}

/** An example with values of the stage, and new names and ids where they must be unused. */
function freshBody(example: unknown, stage: Stage): unknown {
  const body: unknown = JSON.parse(
    JSON.stringify(example, (name, value: unknown) => {
      const fresh = Object.hasOwn(fields, name) ? fields[name]?.(stage) : undefined;
      return typeof value === typeof fresh ? fresh : value;
    }),
  );
  return typeof body === "object" && body !== null ? { ...body, ...structuredClone(stage.facts) } : body;
}

const fields: Readonly<Record<string, (stage: Stage) => string | number | undefined>> = {
  // A few names and ids repeat: this bounds growth, and makes some of them taken.
  name: () => `fuzz ${randomBytes(1).readUInt8() % 32}`,
  uid: () => (randomBytes(1).readUInt8() < 32 ? Buffer.alloc(16) : randomBytes(16).fill(0, 0, 1)).toString("base64url"),
  id: () => randomUUID(),
  client_id: () => randomUUID(),
  email: () => `fuzz-${randomBytes(2).toString("hex")}@example.com`,
  folder_id: ({ ids }) => ids["folder"],
  org_id: ({ ids }) => ids["org"],
  user_id: ({ ids }) => ids["user"],
  key_version: ({ ids }) => Number(ids["key_version"]),
  token_hash: () => randomBytes(32).toString("hex"),
  encrypted_payload: sealed,
};

/** A value for the schema of a parameter. */
function wordOf({ const: only, enum: words }: Schema): string {
  const [word] = Array.isArray(words) ? words : [only];
  return typeof word === "string" ? word : "data";
}

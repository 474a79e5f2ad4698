import { createHash } from "node:crypto";
import { uid, uuid } from "./material.ts";
import type { AuditVector, VectorFile } from "./shapes.ts";

/** RFC 8785 for these records: integers, text, lists, objects with names sorted by UTF-16 unit. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

const common = {
  schema: "coffer.audit/1",
  org_id: uuid("organization"),
  outcome: "success",
  source: { ip: "203.0.113.7", user_agent: "coffer-sdk/0.1.0" },
};
const machine = { type: "client", id: uuid("client"), application_id: uuid("application") };

const drafts: [name: string, draft: object][] = [
  [
    "the first record of a chain",
    {
      ...common,
      id: uuid("record 1"),
      time: "2026-11-20T10:00:00.123456Z",
      action: "secret.read",
      actor: machine,
      target: { type: "secret", id: uid("secret"), parent_id: uuid("folder") },
      request: { id: "req-7f3a", method: "GET", route: "/api/sm/v1/secrets/{uid}", status: 200 },
    },
  ],
  [
    "text outside ASCII, escapes and a control character",
    {
      ...common,
      id: uuid("record 2"),
      time: "2026-11-20T10:00:01.000000Z",
      action: "folder.updated",
      actor: { type: "user", id: uuid("user"), session_id: uuid("session") },
      target: { type: "folder", id: uuid("folder") },
      request: { id: 'é🔑"\\/\u001f', method: "PATCH", route: "/api/org/folders/{id}", status: 200 },
      changes: { name: "Zugänge" },
    },
  ],
  [
    "members that a reader does not know, in the order of UTF-16 units, and absent ones",
    {
      ...common,
      id: uuid("record 3"),
      time: "2026-11-20T10:00:02.000000Z",
      action: "secret.listed",
      actor: machine,
      target: { type: "folder", id: null },
      request: { id: "req-7f3c", method: "GET", route: "/api/sm/v1/secrets", status: 200 },
      count: 0,
      "\ufb33": [1, null, true, { b: "", a: [] }],
      "😂": "before U+FB33 in UTF-16, after it in code points",
    },
  ],
];

/** One chain: each record names the hash of the one before. */
export function auditVectors(): VectorFile<AuditVector> {
  let previous = "0".repeat(64);
  const vectors = drafts.map(([name, draft], index): AuditVector => {
    const placed = { ...draft, seq: index + 1, prev_hash: previous };
    const text = canonical(placed);
    const hash = createHash("sha256").update(text).digest("hex");
    previous = hash;
    return { name, error: null, record: { ...placed, hash }, canonical: text, hash };
  });
  const [first] = vectors;
  const changed = { ...first?.record, time: "2026-11-20T10:00:00.123457Z" };
  const altered: AuditVector = {
    name: "a record that was changed after it was hashed",
    error: "changed",
    record: changed,
    canonical: canonical(Object.fromEntries(Object.entries(changed).filter(([name]) => name !== "hash"))),
    hash: first?.hash ?? "",
  };
  return {
    about: "Audit records of one chain: the record, its canonical JSON without hash, its hash",
    vectors: [...vectors, altered],
  };
}

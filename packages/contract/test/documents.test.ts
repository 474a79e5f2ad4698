import { readFileSync } from "node:fs";
import t from "tap";
import { parse } from "yaml";
import {
  auditActions,
  auditActorTypes,
  auditOutcomes,
  errorCodes,
  folderChanges,
  memberStatuses,
  permissions,
  planNames,
  pushActions,
  recordActions,
  recordTypes,
  revocationReasons,
  roles,
  siemFormats,
  vaultActions,
  vaultTypes,
} from "../src/index.ts";

const read = (path: string): string => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8");

interface Schema {
  enum?: string[];
  const?: string;
  properties?: Record<string, Schema>;
}

/** The schemas of a description, each with its enumerations. */
function schemasOf(description: unknown): Record<string, Schema> {
  return (description as { components: { schemas: Record<string, Schema> } }).components.schemas;
}

await t.test("docs/spec/openapi.json names the same sets", (t) => {
  const schemas = schemasOf(JSON.parse(read("spec/openapi.json")));
  t.same(schemas["Action"]?.enum?.toSorted(), auditActions.toSorted());
  t.same(schemas["Outcome"]?.enum, auditOutcomes);
  t.same(schemas["Format"]?.enum, siemFormats);
  t.same(schemas["MemberStatus"]?.enum, memberStatuses);
  t.same(schemas["Permission"]?.enum, permissions);
  t.same(schemas["RecordType"]?.enum, recordTypes);
  t.same(schemas["Role"]?.enum, roles);
  t.same(schemas["VaultPermission"]?.enum, permissions);
  t.same(schemas["VaultType"]?.enum, vaultTypes);
  t.same(schemas["Organization"]?.properties?.["plan"]?.enum, planNames);
  const actor = schemas["AuditRecord"]?.properties?.["actor"];
  t.same(actor?.properties?.["type"]?.enum, auditActorTypes);
  t.end();
});

await t.test("docs/spec/sync/asyncapi.yaml names the same actions", (t) => {
  const schemas = schemasOf(parse(read("spec/sync/asyncapi.yaml")));
  const actions = Object.values(schemas).flatMap(({ properties }) => {
    if (properties?.["type"]?.const !== "push") return [];
    const action = properties["action"];
    return action?.enum ?? (action?.const === undefined ? [] : [action.const]);
  });
  t.same(actions, pushActions);
  t.same(actions.slice(0, 6), [...recordActions, ...vaultActions]);
  t.same(schemas["folderPush"]?.properties?.["change"]?.enum, folderChanges);
  // A session that logs out closes its own connections: it receives no push.
  const pushed = revocationReasons.filter((reason) => reason !== "logged_out");
  t.same(schemas["logoutPush"]?.properties?.["reason"]?.enum, pushed);
  t.end();
});

await t.test("docs/audit.md lists every action, and no other", (t) => {
  const [, section = ""] = read("audit.md").split(/^## Actions$/m);
  const [rows = ""] = section.split(/^## /m);
  const named = [...rows.matchAll(/`([a-z_]+\.[a-z_.]+)`/g)].map(([, name]) => name);
  t.same(named.toSorted(), auditActions.toSorted());
  t.end();
});

await t.test("docs/api.md lists every error code with its status", (t) => {
  const page = read("api.md");
  for (const [code, status] of Object.entries(errorCodes))
    t.match(page, new RegExp(`\`${code}\``), `${code} ${status}`);
  t.end();
});

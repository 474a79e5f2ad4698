import { fileURLToPath } from "node:url";
import t from "tap";
import { chooseCases, readCases } from "../src/read-cases.ts";

const directory = fileURLToPath(new URL("../../../../docs/spec/cases/", import.meta.url));
const { cases } = await readCases(directory);

await t.test("every section about the Secrets Manager, and each of its rules, has cases", (t) => {
  const rules = [1, 2, 3, 4, 5, 6].map((rule) => `4.1 rule ${rule}`);
  for (const section of ["1", "2.3", "2.4", "3", "4", "4.1", ...rules, "5.2", "7.1", "8", "9"]) {
    const proving = cases.filter(({ proves }) => proves.includes(section));
    t.ok(proving.length > 0, section);
  }
  t.end();
});

await t.test("every endpoint, every status and every error code of the section about errors occurs", (t) => {
  const text = JSON.stringify(cases);
  for (const endpoint of [
    "POST /api/sm/v1/bootstrap",
    "GET /api/sm/v1/secrets",
    "GET /api/sm/v1/secrets/${db.uid}",
    "POST /api/sm/v1/notation",
    "POST /api/sm/v1/secrets",
    "PUT /api/sm/v1/secrets/${uid}",
    "DELETE /api/sm/v1/secrets/${uid}",
    "GET /api/sm/v1/secrets/search?title=database",
    "GET /api/sm/v1/secrets/${db.uid}/fields/password",
  ])
    t.ok(text.includes(`"send":"${endpoint}"`), endpoint);
  for (const code of ["invalid_request", "invalid_token", "access_denied", "secret_not_found", "rate_limited"])
    t.ok(text.includes(`"error":"${code}"`), code);
  t.end();
});

await t.test("the sections about billing have cases, with each of the five events", (t) => {
  const billing = cases.filter(({ name }) => name.startsWith("billing/"));
  for (const section of ["5.3", "6.2", "8"])
    t.ok(
      billing.some(({ proves }) => proves.includes(section)),
      section,
    );
  const text = JSON.stringify(billing);
  t.ok(text.includes('"send":"POST /api/webhooks/stripe"'));
  for (const type of [
    "customer.subscription.created",
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "invoice.paid",
    "invoice.payment_failed",
  ])
    t.ok(text.includes(`"type":"${type}"`), type);
  t.end();
});

await t.test("the kinds that the scanner recognizes have cases, and so have its endpoints", (t) => {
  const text = JSON.stringify(cases.filter(({ name }) => name.startsWith("scanner/")));
  for (const kind of [
    "cloud provider access key",
    "cloud provider secret key",
    "code-host personal token",
    "code-host fine-grained token",
    "chat-platform bot token",
    "chat-platform incoming-webhook URL",
    "payment-processor live secret key",
    "payment-processor live restricted key",
    "RSA private key block",
  ])
    t.ok(text.includes(`"kind":"${kind}"`), kind);
  for (const endpoint of ["POST /api/scanner/scan", "GET /api/scanner/rules"])
    t.ok(text.includes(`"send":"${endpoint}"`), endpoint);
  t.end();
});

await t.test("each sentence about SIEM webhooks and outgoing audit events has a case", (t) => {
  const siem = cases.filter(({ name }) => name.startsWith("siem/"));
  for (const section of ["4.3", "6.2"])
    t.ok(
      siem.some(({ proves }) => proves.includes(section)),
      section,
    );
  const text = JSON.stringify(siem);
  const webhooks = "/api/org/siem/webhooks";
  for (const endpoint of [`POST ${webhooks}`, `GET ${webhooks}`, `DELETE ${webhooks}/\${id}`])
    t.ok(text.includes(`"send":"${endpoint}"`), endpoint);
  for (const format of ["hec", "log_analytics", "logs_intake", "ecs"])
    t.ok(
      siem.some(({ name }) => name === `siem/delivered-as-${format.replace("_", "-")}`),
      format,
    );
  for (const { name, needs, steps } of siem)
    t.equal(needs === "receiver", JSON.stringify(steps).includes("${receiver}"), name);
  t.end();
});

await t.test("every section about vaults and records has cases, and every endpoint and status occurs in them", (t) => {
  for (const section of ["2.1", "2.2", "4.2", "5.1", "7.2"])
    t.ok(
      cases.some(({ name, proves }) => /^(vaults|records|import)\//.test(name) && proves.includes(section)),
      section,
    );
  const text = JSON.stringify(cases.filter(({ name }) => /^(vaults|records|import)\//.test(name)));
  const vault = "/api/vaults/${vault.id}";
  for (const endpoint of [
    "GET /api/vaults",
    "POST /api/vaults",
    `GET ${vault}`,
    `PATCH ${vault}`,
    `DELETE ${vault}`,
    `GET ${vault}/members`,
    `PUT ${vault}/members/\${member.id}`,
    `DELETE ${vault}/members/\${member.id}`,
    `GET ${vault}/records`,
    `POST ${vault}/records`,
    `GET ${vault}/records/\${record.id}`,
    `PUT ${vault}/records/\${record.id}`,
    `DELETE ${vault}/records/\${record.id}`,
    `POST ${vault}/import`,
  ])
    t.ok(text.includes(`"send":"${endpoint}"`), endpoint);
  for (const status of [200, 201, 204, 304, 400, 401, 403, 404, 409, 412, 413])
    t.ok(text.includes(`"status":${status}`), String(status));
  t.end();
});

await t.test(
  "every section about live sync, and each of its rules, has cases, and every message occurs in them",
  (t) => {
    const sync = cases.filter(({ name }) => name.startsWith("sync/"));
    const rules = [1, 2, 3, 4, 5, 6].map((rule) => `6.1 rule ${rule}`);
    for (const section of ["2.5", "4.3", "5.1", "6.1", "8", ...rules])
      t.ok(
        sync.some(({ proves }) => proves.includes(section)),
        section,
      );
    const text = JSON.stringify(sync);
    for (const type of ["sync_request", "sync_response", "push", "error"])
      t.ok(text.includes(`"type":"${type}"`), type);
    for (const action of [
      "record_created",
      "record_updated",
      "record_deleted",
      "vault_created",
      "vault_deleted",
      "vault_updated",
      "folder_updated",
      "logout",
      "created",
      "updated",
    ])
      t.ok(text.includes(`"action":"${action}"`), action);
    for (const code of [1006, 1008, 1009, 4001]) t.ok(text.includes(`"code":${code}`), String(code));
    t.end();
  },
);

await t.test("each case has its own sentence", (t) => {
  const sentences = new Set<string>();
  for (const { name, says } of cases) {
    t.match(says, /^[`A-Z].*\.$/u, name);
    t.notOk(sentences.has(says), `${name}: ${says}`);
    sentences.add(says);
  }
  t.end();
});

await t.test("cases are chosen by name or by folder, and a name that none has is an error", (t) => {
  t.equal(chooseCases(cases, []).length, cases.length);
  t.same(
    chooseCases(cases, ["delete/twice"]).map(({ name }) => name),
    ["delete/twice"],
  );
  const some = chooseCases(cases, ["delete", "read/"]);
  t.ok(some.length > 2 && some.every(({ name }) => /^(delete|read)\//.test(name)));
  t.throws(() => chooseCases(cases, ["delete", "nothing"]), { name: "CaseFileError", message: /nothing/ });
  t.throws(() => chooseCases(cases, ["del"]), { name: "CaseFileError" });
  t.end();
});

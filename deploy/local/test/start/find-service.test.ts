import t from "tap";
import { createFindService } from "../../src/services/find-service.ts";
import { allServices } from "../../src/services/services.ts";

const find = createFindService(allServices);

const expected: Record<string, string | null> = {
  "/api/sm/v1/secrets": "auth-sm",
  "/api/sm/v1/secrets/search?title=/api/vaults": "auth-sm",
  "/api/auth/refresh": "auth-sm",
  "/api/org": "auth-sm",
  "/api/org/folders": "auth-sm",
  "/api/org?x=1": "auth-sm",
  "/api/org/audit": "siem-forwarder",
  "/api/org/audit?limit=1": "siem-forwarder",
  "/api/org/siem/webhooks/1": "siem-forwarder",
  "/api/org/audits": "auth-sm",
  "/api/orgs": "auth-sm",
  "/.well-known/jwks.json": "auth-sm",
  "/api/vaults": "vaults",
  "/api/vaults/1/records/2": "vaults",
  "/api/vaultsx": "console",
  "/api/sync/ws?token=x": "sync",
  "/api/sync": "console",
  "/api/webhooks/stripe": "billing-webhook",
  "/api/scanner/scan": "scanner",
  "http://coffer.test/api/vaults/1?x=1": "vaults",
  "https://127.0.0.1:8080/api/org/audit": "siem-forwarder",
  "http://coffer.test/": "console",
  "http://coffer.test": null,
  "/": "console",
  "/assets/page.0.js": "console",
  "": null,
  "*": null,
};
for (const [url, name] of Object.entries(expected)) {
  await t.test(`"${url}" belongs to ${name ?? "no service"}`, (t) => {
    t.equal(find(url), name);
    t.end();
  });
}

import type { Mutant } from "../mutant.ts";

const source = "services/siem-forwarder/src";
const webhooks = "services/siem-forwarder/test/webhooks.test.ts";
const networks = "services/siem-forwarder/test/networks.test.ts";

/** SIEM endpoints: callers, addresses, stored credentials. */
export const siemEndpointMutants: readonly Mutant[] = [
  {
    name: "siem-endpoint-changed-by-an-auditor",
    file: `${source}/access.ts`,
    find: 'managers: readonly string[] = ["owner", "admin"]',
    replace: 'managers: readonly string[] = ["owner", "admin", "auditor"]',
    tests: [webhooks],
  },
  {
    name: "siem-endpoint-without-the-plan",
    file: `${source}/plans/plans.ts`,
    find: 'plan === "business" || plan === "enterprise"',
    replace: 'plan !== "free"',
    tests: [webhooks],
  },
  {
    name: "siem-endpoint-of-another-organization-deleted",
    file: `${source}/store/endpoints.ts`,
    find: "DELETE FROM siem_endpoints WHERE org_id = ${orgId} AND id = ${id}",
    replace: "DELETE FROM siem_endpoints WHERE org_id IS NOT NULL AND id = ${id}",
    tests: [webhooks],
  },
  {
    name: "siem-endpoint-number-eleven",
    file: `${source}/endpoints/create.ts`,
    find: ">= mostEndpoints",
    replace: "> mostEndpoints",
    tests: [webhooks],
  },
  {
    name: "siem-endpoint-over-http",
    file: `${source}/outgoing/networks.ts`,
    find: 'return protocol === "https:" && !denied',
    replace: "return !denied",
    tests: [networks, webhooks],
  },
  {
    name: "siem-endpoint-on-a-private-network",
    file: `${source}/outgoing/endpoint-url.ts`,
    find: "if (error instanceof AddressRefused)",
    replace: 'if (error instanceof AddressRefused && format === "login")',
    tests: [webhooks],
  },
  {
    name: "siem-endpoint-with-a-password-in-its-address",
    file: `${source}/outgoing/endpoint-url.ts`,
    find: 'url.username !== "" || url.password !== ""',
    replace: 'url.password !== "" && url.username === ""',
    tests: [webhooks],
  },
  {
    name: "siem-login-address-unchecked",
    file: `${source}/endpoints/checked-credentials.ts`,
    find: 'if (!("login_url" in credentials)) return credentials;',
    replace: 'if (!("login_url" in credentials) || credentials.login_url !== "") return credentials;',
    tests: [webhooks],
  },
  {
    name: "siem-ipv4-translated-address-taken",
    file: `${source}/outgoing/networks.ts`,
    find: '  "::ffff:0:0:0/96",\n',
    replace: "",
    tests: [networks],
  },
  {
    name: "siem-address-that-embeds-an-ipv4-address",
    file: `${source}/outgoing/networks.ts`,
    find: '  "64:ff9b::/96",\n',
    replace: "",
    tests: [networks],
  },
  {
    name: "siem-mapped-address-not-compared-with-the-operators-networks",
    file: `${source}/outgoing/networks.ts`,
    find: "if (mapped || nat64) return",
    replace: "if (nat64) return",
    tests: [networks],
  },
  {
    name: "siem-credentials-open-for-another-endpoint",
    file: `${source}/endpoints/seal-credentials.ts`,
    find: "sealer.seal(JSON.stringify(credentials), id)",
    replace: "sealer.seal(JSON.stringify(credentials), id.slice(0, 0))",
    tests: ["services/siem-forwarder/test/key-rotation.test.ts"],
  },
  {
    name: "siem-credentials-sent-to-another-host",
    file: `${source}/endpoints/update.ts`,
    find: "url !== undefined && credentials === undefined &&",
    replace: "url === undefined && credentials === undefined && url !== undefined &&",
    tests: [webhooks],
  },
  {
    name: "siem-credentials-sent-to-another-port",
    file: `${source}/endpoints/update.ts`,
    find: "return new URL(url).origin;",
    replace: "return new URL(url).hostname;",
    tests: [webhooks],
  },
  {
    name: "siem-origin-compared-before-the-lock",
    file: `${source}/endpoints/update.ts`,
    find: "originOf(url) !== originOf(present.url)",
    replace: "originOf(url) !== originOf(found.url)",
    tests: [webhooks],
  },
  {
    name: "siem-credentials-with-a-line-break",
    file: `${source}/credentials/credentials.ts`,
    find: "/^[\\x21-\\x7e]{1,4096}$/",
    replace: "/^[\\s\\x21-\\x7e]{1,4096}$/",
    tests: [webhooks],
  },
  {
    name: "siem-tenant-that-leaves-its-path",
    file: `${source}/credentials/credentials.ts`,
    find: "/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/",
    replace: "/^[A-Za-z0-9._-]{1,128}$/",
    tests: [webhooks],
  },
  {
    name: "siem-credentials-stored-under-the-old-key",
    file: `${source}/endpoints/reseal.ts`,
    find: "if (text !== null) await",
    replace: 'if (text === "") await',
    tests: ["services/siem-forwarder/test/key-rotation.test.ts"],
  },
  {
    name: "siem-keys-for-every-service",
    file: "deploy/local/src/service-environment.ts",
    find: 'if (service !== "siem-forwarder") return { COFFER_SIEM_KEYS: undefined };',
    replace: 'if (service === "auth-sm") return { COFFER_SIEM_KEYS: undefined };',
    tests: ["deploy/local/test/service-environment.test.ts"],
  },
  {
    name: "siem-denial-not-recorded",
    file: "packages/service/src/record-refusal.ts",
    find: 'if (status === 403) return "denied";',
    replace: 'if (status === 418) return "denied";',
    tests: [webhooks],
  },
];

import { audience } from "./coffer.ts";
import { auditAppend } from "./rows/audit-append.ts";
import { auditPages } from "./rows/audit-pages.ts";
import { siemDelivery } from "./rows/siem-delivery.ts";
import { secretsRows } from "./secrets-rows.ts";
import { seed, type Seeded, type Size } from "./seed.ts";
import { type AuditSize, seedAudit, type SeededAudit } from "./seed-audit.ts";
import { type SeededVaults, seedVaults, type VaultsSize } from "./seed-vaults.ts";
import type { Suite } from "./suite.ts";
import { vaultsRows } from "./vaults-rows.ts";

const number = (n: number): string => n.toLocaleString("en");

/** The Secrets Manager, loaded by machines. */
export const secretsSuite: Suite<Size, Seeded> = {
  services: ["auth-sm", "siem-forwarder"],
  sizes: { full: { secrets: 100_000, clients: 1_000 }, tenth: { secrets: 10_000, clients: 100 } },
  title: ({ secrets, clients }) => `${number(secrets)} secrets, ${number(clients)} clients`,
  seed: (coffer, size) => seed(coffer.postgresUrl, size, audience),
  rows: secretsRows,
  leading: new Map([
    ["secret read: CPU of all processes", (figure) => `a read costs ${figure} of CPU in all processes`],
    ["secret read: p50 one at a time", (figure) => `a response takes ${figure}`],
    ["secret create: rate", (figure) => `the create rate is ${figure}`],
  ]),
};

/** The audit's chain, and its way to a SIEM. */
export const auditSuite: Suite<AuditSize, SeededAudit> = {
  services: ["siem-forwarder"],
  sizes: { full: { records: 100_000 }, tenth: { records: 10_000 } },
  title: ({ records }) => `${number(records)} audit records`,
  seed: seedAudit,
  release: ({ bus }) => bus.close(),
  rows: [siemDelivery, auditAppend, auditPages],
  leading: new Map([["siem: delivery, by itself", (figure) => `audit records reach a SIEM at ${figure}`]]),
};

/** Vaults and live sync, loaded by people's devices. */
export const vaultsSuite: Suite<VaultsSize, SeededVaults> = {
  services: ["vaults", "auth-sm", "siem-forwarder", "sync"],
  sizes: {
    full: { records: 100_000, large: 10_000, connections: 10_000 },
    tenth: { records: 10_000, large: 1_000, connections: 1_000 },
  },
  title: ({ records, connections }) => `${number(records)} records, ${number(connections)} devices`,
  seed: seedVaults,
  rows: vaultsRows,
  leading: new Map([
    ["push to another device, across replicas: p50", (figure) => `a push to another device takes ${figure}`],
    ["incremental sync: p50", (figure) => `an incremental sync takes ${figure}`],
  ]),
};

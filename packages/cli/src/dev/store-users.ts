// Written by npm run generate -w deploy/chart, from packages/bus and the list of services.

/** What each service's user may do on NATS. */
export const natsUsers = {
  maxPayload: 1048576,
  responseExpiry: "1m",
  users: {
    "auth-sm": {
      publish: [
        "coffer.rpc.siem-forwarder.append-auth-sm",
        "coffer.rpc.vaults.viewers",
        "coffer.rpc.vaults.travel-mode",
        "coffer.rpc.vaults.set-travel-mode",
        "coffer.rpc.vaults.membership-changed",
        "coffer.rpc.vaults.heads",
        "coffer.rpc.vaults.sole-managed",
        "coffer.rpc.siem-forwarder.plan-changed",
        "coffer.evt.session.revoked",
        "coffer.evt.folder.changed",
      ],
      subscribe: [
        "coffer.rpc.auth-sm.signing-keys",
        "coffer.rpc.auth-sm.membership",
        "coffer.rpc.auth-sm.revoked-sessions",
        "coffer.rpc.auth-sm.memberships",
        "coffer.rpc.auth-sm.named-memberships",
        "coffer.rpc.auth-sm.folder-holders",
        "coffer.rpc.auth-sm.folder-news",
        "coffer.rpc.auth-sm.plan-changed",
        "_INBOX_auth-sm.>",
      ],
      allowResponses: true,
    },
    vaults: {
      publish: [
        "coffer.rpc.siem-forwarder.append-vaults",
        "coffer.rpc.auth-sm.signing-keys",
        "coffer.rpc.auth-sm.membership",
        "coffer.rpc.auth-sm.revoked-sessions",
        "coffer.rpc.auth-sm.memberships",
        "coffer.rpc.auth-sm.named-memberships",
        "coffer.evt.record.changed",
        "coffer.evt.vault.changed",
      ],
      subscribe: [
        "coffer.rpc.vaults.changes",
        "coffer.rpc.vaults.news",
        "coffer.rpc.vaults.viewers",
        "coffer.rpc.vaults.travel-mode",
        "coffer.rpc.vaults.set-travel-mode",
        "coffer.rpc.vaults.membership-changed",
        "coffer.rpc.vaults.heads",
        "coffer.rpc.vaults.sole-managed",
        "coffer.evt.session.revoked",
        "_INBOX_vaults.>",
      ],
      allowResponses: true,
    },
    sync: {
      publish: [
        "coffer.rpc.auth-sm.signing-keys",
        "coffer.rpc.auth-sm.membership",
        "coffer.rpc.auth-sm.revoked-sessions",
        "coffer.rpc.auth-sm.folder-holders",
        "coffer.rpc.auth-sm.folder-news",
        "coffer.rpc.vaults.changes",
        "coffer.rpc.vaults.news",
        "coffer.rpc.vaults.viewers",
      ],
      subscribe: [
        "coffer.evt.session.revoked",
        "coffer.evt.folder.changed",
        "coffer.evt.record.changed",
        "coffer.evt.vault.changed",
        "_INBOX_sync.>",
      ],
      allowResponses: false,
    },
    "billing-webhook": {
      publish: [
        "coffer.rpc.siem-forwarder.append-billing-webhook",
        "coffer.rpc.auth-sm.signing-keys",
        "coffer.rpc.auth-sm.membership",
        "coffer.rpc.auth-sm.revoked-sessions",
        "coffer.rpc.auth-sm.plan-changed",
      ],
      subscribe: ["coffer.evt.session.revoked", "_INBOX_billing-webhook.>"],
      allowResponses: false,
    },
    "siem-forwarder": {
      publish: [
        "coffer.rpc.auth-sm.signing-keys",
        "coffer.rpc.auth-sm.membership",
        "coffer.rpc.auth-sm.revoked-sessions",
      ],
      subscribe: [
        "coffer.rpc.siem-forwarder.append-auth-sm",
        "coffer.rpc.siem-forwarder.append-vaults",
        "coffer.rpc.siem-forwarder.append-billing-webhook",
        "coffer.rpc.siem-forwarder.append-scanner",
        "coffer.rpc.siem-forwarder.plan-changed",
        "coffer.evt.session.revoked",
        "_INBOX_siem-forwarder.>",
      ],
      allowResponses: true,
    },
    scanner: {
      publish: [
        "coffer.rpc.siem-forwarder.append-scanner",
        "coffer.rpc.auth-sm.signing-keys",
        "coffer.rpc.auth-sm.membership",
        "coffer.rpc.auth-sm.revoked-sessions",
      ],
      subscribe: ["coffer.evt.session.revoked", "_INBOX_scanner.>"],
      allowResponses: false,
    },
  },
};

/** The schema and role of each service in Postgres. */
export const schemas = {
  "auth-sm": "auth_sm",
  vaults: "vaults",
  sync: null,
  "billing-webhook": "billing_webhook",
  "siem-forwarder": "siem_forwarder",
  scanner: null,
};

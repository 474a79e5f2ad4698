import { type CommandRow, jsonOption, urlOption } from "../command-row.ts";

/** Tools for those who develop with billing. */
export const devBillingRows: readonly CommandRow[] = [
  {
    name: "dev stripe-event",
    args: "<type>",
    summary: "send a signed event to a local service, as Stripe does",
    examples: [
      "coffer dev stripe-event customer.subscription.created --org 01900000-0000-7c59-aa7c-f8d2bbd49000",
      "coffer dev stripe-event customer.subscription.updated --org … --price enterprise --status past_due",
      "coffer dev stripe-event customer.subscription.deleted --org …",
    ],
    options: [
      { flags: "--org <id>", description: "the organization, by id (coffer whoami --json)", required: true },
      { flags: "--price <lookup-key>", description: "the lookup key of the price", preset: "business" },
      { flags: "--status <status>", description: "the subscription's status (active; canceled for a deletion)" },
      { flags: "--subscription <id>", description: "the subscription (else one that is always the organization's)" },
      { flags: "--event-id <id>", description: "the event's id, to send one again (else a new one)" },
      { flags: "--created <seconds>", description: "when Stripe made the event, in Unix seconds (else now)" },
      {
        flags: "--secret-file <file>",
        description: "the signing secret: the file's first line (else the first of COFFER_STRIPE_WEBHOOK_SECRETS)",
      },
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/dev/stripe-event.ts")).sendStripeEvent,
  },
];

import { type CommandRow, jsonOption } from "../command-row.ts";

export const devRows: readonly CommandRow[] = [
  {
    name: "dev secrets",
    summary: "print a Secret with new passwords for the development stores of the chart",
    examples: [
      "coffer dev secrets | kubectl apply --namespace coffer --filename -",
      "coffer dev secrets --release vault --name vault-dev > secret.yaml",
    ],
    options: [
      { flags: "--release <name>", description: "what the names of the chart's objects begin with", preset: "coffer" },
      { flags: "--name <name>", description: "name of the Secret", preset: "coffer-dev" },
      jsonOption,
    ],
    load: async () => (await import("../commands/dev.ts")).devSecrets,
  },
  {
    name: "dev nats-config",
    summary: "print the users of NATS, and what each may publish and subscribe to",
    examples: ["coffer dev nats-config > coffer-users.conf"],
    options: [jsonOption],
    load: async () => (await import("../commands/dev.ts")).devNatsConfig,
  },
];

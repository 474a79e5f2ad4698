import { type CommandRow, configOption, jsonOption, urlOption } from "../command-row.ts";

export const doctorRows: readonly CommandRow[] = [
  {
    name: "doctor",
    summary: "look for what usually goes wrong, and say what to do; exit 1 when there is a problem",
    examples: [
      "coffer doctor",
      "coffer doctor --config machine.json --url https://coffer.example.com",
      "coffer doctor --management http://127.0.0.1:9090",
      "coffer doctor --server-config  (before a service starts, with its environment)",
    ],
    options: [
      { flags: "--management <address>", description: "check a management port too (else the local run's)" },
      {
        flags: "--server-config",
        description: "check the COFFER_* environment of a service instead, without a request",
      },
      configOption,
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/doctor.ts")).doctor,
  },
  {
    name: "console verify",
    summary: "compare what an address serves as the console with this release; exit 1 when something differs",
    examples: [
      "coffer console verify --url https://coffer.example.com",
      "coffer console verify --manifest manifest.json --json",
    ],
    options: [
      { flags: "--manifest <file>", description: "the manifest of a release (else the one of this command)" },
      urlOption,
      jsonOption,
    ],
    load: async () => (await import("../commands/console.ts")).verifyConsole,
  },
];

import { parseArgs } from "node:util";

export interface Options {
  url: string;
  audience: string;
  forwarded: boolean;
  json: boolean;
  names: string[];
}

export const usage = `npm run cases -- --url <address> [--forwarded] [--audience <address>] [--json] [name…]

Runs the cases of docs/spec/cases against an installation where people may sign up.

  npm run cases -- --url http://127.0.0.1:8080
  npm run cases -- --url http://127.0.0.1:8080 --forwarded bootstrap limits/strict-bucket

  --url        the installation's address
  --forwarded  choose a source address for each case by X-Forwarded-For; the runner must be a trusted proxy
  --audience   the base address that machines name in their tokens, where it is not the one of --url
  --json       print the results as one JSON document
  name         a case, or a folder of cases; all without any

With COFFER_STRIPE_WEBHOOK_SECRETS, a signing secret of the installation, the cases about billing run too.
`;

/** The command line is not understood. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** Reads the command line; null when it asks for help. Throws UsageError. */
export function readOptions(args: readonly string[]): Options | null {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        url: { type: "string" },
        audience: { type: "string" },
        forwarded: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { url, audience, forwarded, json, help } = parsed.values;
  if (help) return null;
  if (url === undefined) throw new UsageError("--url is needed: the address of the installation");
  return { url: addressOf(url), audience: addressOf(audience ?? url), forwarded, json, names: parsed.positionals };
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError(`${text} is no http or https address`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

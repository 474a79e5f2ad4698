import { parseArgs } from "node:util";

export interface Options {
  url: string;
  audience: string;
  /** The runner's address for audit records; undefined without one. */
  receiver: string | undefined;
  forwarded: boolean;
  json: boolean;
  names: string[];
}

export const usage = `npm run cases -- --url <address> [--forwarded] [--audience <address>] [--receiver <address>] [--json] [name…]

Runs the cases of docs/spec/cases against an installation where people may sign up.

  npm run cases -- --url http://127.0.0.1:8080
  npm run cases -- --url http://127.0.0.1:8080 --forwarded bootstrap limits/strict-bucket

  --url        the installation's address
  --forwarded  choose a source address for each case by X-Forwarded-For; the runner must be a trusted proxy
  --audience   the base address that machines name in their tokens, where it is not the one of --url
  --receiver   an http address at which the runner listens as a SIEM; the installation must be able to reach it, and allow
               its network (COFFER_SIEM_ALLOWED_CIDRS)
  --json       print the results as one JSON document
  name         a case, or a folder of cases; all without any

With COFFER_STRIPE_WEBHOOK_SECRETS, a signing secret of the installation, the cases about billing run too.
`;

/** A wrong command line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** Parses the command line; null for help. Throws UsageError. */
export function readOptions(args: readonly string[]): Options | null {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        url: { type: "string" },
        audience: { type: "string" },
        receiver: { type: "string" },
        forwarded: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message); // parseArgs throws TypeErrors
  }
  const { url, audience, receiver, forwarded, json, help } = parsed.values;
  if (help) return null;
  if (url === undefined) throw new UsageError("--url is needed: the address of the installation");
  return {
    url: addressOf(url),
    audience: addressOf(audience ?? url),
    receiver: receiver === undefined ? undefined : listeningAddress(receiver),
    forwarded,
    json,
    names: parsed.positionals,
  };
}

/** Throws UsageError for an address at which no plain http server can listen. */
function listeningAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || url.pathname !== "/" || url.search !== "")
    throw new UsageError(`--receiver ${text} is no http address without a path`);
  return url.origin;
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError(`${text} is no http or https address`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";

export interface Options {
  url: string | undefined;
  count: number;
  seed: string;
  first: number;
  only: string[];
}

export const usage = `npm run fuzz -- [--count N] [--seed S] [operation…]

Sends malformed requests, made from docs/spec/api, to every operation. No answer may be a 5xx, late, or one that the
description does not allow.

  npm run fuzz                                        10,000 for each operation, on an installation of its own
  npm run fuzz -- --count 500 createSecret            some for one operation
  npm run fuzz -- --seed 3f9a --first 17 --count 1 createSecret    one request again

  --count  how many requests each operation gets; 10,000
  --seed   the choices; printed, so that a run can be repeated
  --first  the number of the first request; 0
  --url    an installation that runs already, where people may sign up and the limits are out of the way.
           Events of Stripe are signed with the first of COFFER_STRIPE_WEBHOOK_SECRETS
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
        count: { type: "string", default: "10000" },
        seed: { type: "string" },
        first: { type: "string", default: "0" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message); // parseArgs throws TypeErrors
  }
  const { url, count, seed, first, help } = parsed.values;
  if (help) return null;
  return {
    url,
    count: numberOf("--count", count),
    seed: seed ?? newSeed(),
    first: numberOf("--first", first),
    only: parsed.positionals,
  };
}

/** A random seed. */
export function newSeed(): string {
  return randomBytes(4).toString("hex");
}

function numberOf(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a number`);
  return Number(text);
}

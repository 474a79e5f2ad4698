import { readFile } from "node:fs/promises";
import { safeUrl } from "@coffer/sdk";
import type { AddressOptions } from "../command-row.ts";
import { usage } from "../failure.ts";
import { localRunFile } from "../profile/paths.ts";

export interface Address {
  url: string;
  /** The source in this call; undefined when it was stored or found. */
  named: "--url" | "COFFER_URL" | undefined;
}

/** Stored addresses. */
export interface Remembered {
  /** The machine's configuration of the call. Only `--url` and COFFER_URL take precedence. */
  configuration?: string | undefined;
  /** The profile's address of the last registration or login. Read only when needed. */
  profile?(): Promise<string | undefined>;
}

/**
 * The address that the call names: `--url`, else COFFER_URL. Throws CofferError (configuration) for
 * a malformed one.
 */
export function namedAddress(options: AddressOptions, env: NodeJS.ProcessEnv): Address | undefined {
  const { url: flag, insecureHttp } = options;
  if (flag !== undefined) return { url: safeUrl(flag, insecureHttp), named: "--url" };
  if (env["COFFER_URL"]) return { url: safeUrl(env["COFFER_URL"], insecureHttp), named: "COFFER_URL" };
  return undefined;
}

/**
 * The service's address: `--url`, else COFFER_URL, else the configuration's, else the profile's,
 * else that of the local run (in COFFER_DATA_DIR or the checkout's data directory). Throws Failure
 * (usage) without any, CofferError (configuration) for plain http to another machine without
 * `--insecure-http`.
 */
export async function resolveAddress(
  options: AddressOptions,
  env: NodeJS.ProcessEnv,
  remembered: Remembered = {},
): Promise<Address> {
  const named = namedAddress(options, env);
  if (named !== undefined) return named;
  const found = remembered.configuration ?? (await remembered.profile?.()) ?? (await localRun(env));
  if (found !== undefined) return { url: safeUrl(found, options.insecureHttp), named: undefined };
  throw usage("no address: start a local service with `npm start`, or name one with --url or COFFER_URL");
}

async function localRun(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { url } = JSON.parse(await readFile(localRunFile(env), "utf8")) as { url?: unknown };
    return typeof url === "string" ? url : undefined;
  } catch {
    return undefined;
  }
}

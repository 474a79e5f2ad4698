import { readFile } from "node:fs/promises";
import { canonicalUrl } from "@coffer/sdk";
import { usage } from "./failure.ts";
import { localRunFile, namedDataDirectory } from "./paths.ts";

export interface Address {
  url: string;
  /** What named it in this call; undefined when it was remembered or found. */
  named: "--url" | "COFFER_URL" | "COFFER_DATA_DIR" | undefined;
}

/** Addresses that are known from before. */
export interface Remembered {
  /** The machine's configuration that the call is about: it goes before everything but `--url` and COFFER_URL. */
  configuration?: string | undefined;
  /** The profile's: where the last registration or login was. Read only when it matters. */
  profile?(): Promise<string | undefined>;
}

/**
 * The service's address: `--url`, else COFFER_URL, else the configuration's, else that of the local run whose data
 * directory COFFER_DATA_DIR names, else the profile's, else the checkout's own local run's. Throws Failure (usage) when
 * there is none, and when nothing runs in the directory that was named although another address is remembered: the call
 * would reach another service than it was meant for.
 */
export async function resolveAddress(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
  remembered: Remembered = {},
): Promise<Address> {
  if (flag !== undefined) return { url: canonicalUrl(flag), named: "--url" };
  if (env["COFFER_URL"]) return { url: canonicalUrl(env["COFFER_URL"]), named: "COFFER_URL" };
  if (remembered.configuration !== undefined) return { url: canonicalUrl(remembered.configuration), named: undefined };
  const profile = await remembered.profile?.();
  const directory = namedDataDirectory(env);
  const running = directory === undefined && profile !== undefined ? undefined : await localRun(env);
  if (directory !== undefined && running !== undefined) return { url: running, named: "COFFER_DATA_DIR" };
  if (directory !== undefined && profile !== undefined)
    throw usage(
      `nothing runs in ${directory}, which COFFER_DATA_DIR names: start it, or name an address with --url or COFFER_URL`,
    );
  const found = profile ?? running;
  if (found !== undefined) return { url: canonicalUrl(found), named: undefined };
  throw usage("no address: start a local service with `npm start`, or name one with --url or COFFER_URL");
}

async function localRun(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { url } = JSON.parse(await readFile(localRunFile(env), "utf8")) as { url?: unknown };
    return typeof url === "string" ? canonicalUrl(url) : undefined;
  } catch {
    return undefined;
  }
}

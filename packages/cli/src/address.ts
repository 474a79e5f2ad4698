import { readFile } from "node:fs/promises";
import { canonicalUrl } from "@coffer/sdk";
import { usage } from "./failure.ts";
import { localRunFile } from "./paths.ts";

/**
 * The service's address: `--url`, else COFFER_URL, else the one that `remembered` gives (the profile's or the
 * configuration's), else the local run's. Throws Failure (usage) when there is none.
 */
export async function resolveAddress(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
  remembered: () => Promise<string | undefined>,
): Promise<string> {
  const said = flag ?? (env["COFFER_URL"] || undefined) ?? (await remembered()) ?? (await localRun(env));
  if (said === undefined)
    throw usage("no address: start a local service with `npm start`, or name one with --url or COFFER_URL");
  return canonicalUrl(said);
}

async function localRun(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { url } = JSON.parse(await readFile(localRunFile(env), "utf8")) as { url?: unknown };
    return typeof url === "string" ? url : undefined;
  } catch {
    return undefined;
  }
}

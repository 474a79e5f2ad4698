import { readFile } from "node:fs/promises";
import { safeUrl } from "@coffer/sdk";
import { localRunFile } from "../profile/paths.ts";
import { serviceKey } from "../service/same-service.ts";

/**
 * The addresses of management ports: the given one, else those of the local run if it is the
 * service at `url`, with the main one first. Empty when unknown. Throws CofferError for a malformed
 * address.
 */
export async function managementOf(
  { management: named, insecureHttp }: { management?: string; insecureHttp?: boolean },
  url: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  if (named !== undefined) return [safeUrl(named, insecureHttp)];
  if (url === undefined) return [];
  try {
    const run = JSON.parse(await readFile(localRunFile(env), "utf8")) as Run; // what npm start writes
    if (serviceKey(run.url) !== serviceKey(url)) return [];
    return [...new Set([run.management_url, ...Object.values(run.services).map((each) => each.management_url)])];
  } catch {
    return [];
  }
}

interface Run {
  url: string;
  management_url: string;
  services: Record<string, { management_url: string }>;
}

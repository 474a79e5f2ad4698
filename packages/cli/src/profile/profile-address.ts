import { readFile } from "node:fs/promises";
import { serviceKey } from "../service/same-service.ts";
import { profileFile } from "./paths.ts";

/**
 * The address of this environment's profile, if it is another service than `url`; otherwise
 * undefined.
 */
export async function otherProfileAddress(env: NodeJS.ProcessEnv, url: string): Promise<string | undefined> {
  try {
    const { url: remembered } = JSON.parse(await readFile(profileFile(env), "utf8")) as { url?: unknown };
    return typeof remembered === "string" && serviceKey(remembered) !== serviceKey(url) ? remembered : undefined;
  } catch {
    return undefined;
  }
}

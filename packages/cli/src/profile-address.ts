import { readFile } from "node:fs/promises";
import { profileFile } from "./paths.ts";
import { serviceKey } from "./same-service.ts";

/**
 * The address to which the command of this environment's profile would go, when that is another service than `url`;
 * undefined when it is this one, or when there is no profile that says so.
 */
export async function otherProfileAddress(env: NodeJS.ProcessEnv, url: string): Promise<string | undefined> {
  try {
    const { url: remembered } = JSON.parse(await readFile(profileFile(env), "utf8")) as { url?: unknown };
    return typeof remembered === "string" && serviceKey(remembered) !== serviceKey(url) ? remembered : undefined;
  } catch {
    return undefined;
  }
}

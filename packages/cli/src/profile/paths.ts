import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of the person's profile: `$XDG_CONFIG_HOME/coffer`, else `~/.config/coffer`. */
export function profileDirectory(env: Environment): string {
  // The XDG specification says to ignore a relative path. An empty or relative HOME would put the
  // unlocked user key into the working directory.
  const absolute = (name: string): string | undefined => (env[name]?.startsWith("/") === true ? env[name] : undefined);
  const base = absolute("XDG_CONFIG_HOME") ?? join(absolute("HOME") ?? userInfo().homedir, ".config");
  return join(base, "coffer");
}

export function profileFile(env: Environment): string {
  return join(profileDirectory(env), "profile.json");
}

/**
 * The file with the address of a local run (`npm start`): in the directory of COFFER_DATA_DIR, else
 * in the checkout's data directory.
 */
export function localRunFile(env: Environment): string {
  const checkout = fileURLToPath(new URL("../../../..", import.meta.url));
  return join(namedDataDirectory(env) ?? join(checkout, ".coffer"), "run", "coffer.json");
}

export function namedDataDirectory(env: Environment): string | undefined {
  return env["COFFER_DATA_DIR"] || undefined;
}

import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the person's profile: `$XDG_CONFIG_HOME/coffer`, else `~/.config/coffer`. */
export function profileDirectory(env: Environment): string {
  // The XDG specification says to ignore a relative path. An empty or relative HOME would put the unlocked user key into the
  // folder in which the command happens to run.
  const absolute = (name: string): string | undefined => (env[name]?.startsWith("/") === true ? env[name] : undefined);
  const base = absolute("XDG_CONFIG_HOME") ?? join(absolute("HOME") ?? userInfo().homedir, ".config");
  return join(base, "coffer");
}

/** The file of the person's profile. */
export function profileFile(env: Environment): string {
  return join(profileDirectory(env), "profile.json");
}

/**
 * The file in which a local run (`npm start`) says where it is: of the data directory that COFFER_DATA_DIR names, else
 * of the checkout's own.
 */
export function localRunFile(env: Environment): string {
  const checkout = fileURLToPath(new URL("../../..", import.meta.url));
  return join(namedDataDirectory(env) ?? join(checkout, ".coffer"), "run", "coffer.json");
}

/** What COFFER_DATA_DIR names; undefined when it is not set, or empty. */
export function namedDataDirectory(env: Environment): string | undefined {
  return env["COFFER_DATA_DIR"] || undefined;
}

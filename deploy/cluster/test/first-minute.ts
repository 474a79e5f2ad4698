import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import type { Test } from "tap";
import { checkout } from "../../local/src/checkout.ts";
import { firstMinute } from "../../local/src/first-minute.ts";
import { password } from "../../local/test/cli/cli-person.ts";
import { run } from "./kube.ts";

export interface Address {
  url: string;
  /** File with the certificate authority of the address, where Node does not know it. */
  authority?: string | undefined;
}

/** A person at a terminal, in the checkout, with a machine. */
export interface Shell {
  /** Runs a line, and returns its stdout. Throws unless it ends with 0. */
  line(text: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** The configuration of the machine. */
  machine: string;
}

/** The secret that the lines store, as a machine reads it. */
export const storedSecret = { uri: "coffer://production/database/field/password", value: "s3cret" };

/** Runs the lines that `npm start` prints, one after the other: the last gives the secret to a program. */
export async function playFirstMinute(t: Test, { url, authority }: Address, email: string): Promise<Shell> {
  const home = testDirectory(t);
  chmodSync(home, 0o700);
  const machine = join(home, "machine.json");
  const own = {
    HOME: home,
    XDG_CONFIG_HOME: home,
    COFFER_DATA_DIR: home,
    COFFER_URL: url,
    COFFER_PASSWORD: password,
    ...(authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }),
  };
  const line: Shell["line"] = async (text, env = {}) =>
    (await run("bash", ["-c", `cd '${checkout}' && ${text}`], { env: { ...own, ...env } })).trim();
  let said = "";
  for (const printed of firstMinute) {
    const text = printed
      .replace("you@example.com", email)
      .replace("machine.json", machine)
      // There is no terminal, where the command does not mask the value.
      .replace("coffer run ", "coffer run --no-mask ");
    // bootstrap reads the token that the line before it has printed.
    said = await line(text, { COFFER_TOKEN: /cft1_\S+/.exec(said)?.[0] ?? "" });
  }
  t.equal(said, storedSecret.value, "the first minute ends in the decrypted secret");
  return { line, machine: readFileSync(machine, "utf8") };
}

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { testDirectory, type TestScope } from "@coffer/testkit";
import { coffer, type Outcome, type Start } from "../../../../packages/cli/test/command.ts";

/** The command at one service, with one home: a person with machines. */
export interface Cli {
  home: string;
  /** Runs the command to its end. */
  run(args: string[], options?: Start): Promise<Outcome>;
  /** Runs the command and returns its data. Throws unless it exits with 0. */
  data(args: string[], options?: Start): Promise<string>;
}

export const password = "correct horse battery staple";

/** The command with a fresh home. */
export function newCli(t: TestScope, url: string): Cli {
  const home = testDirectory(t);
  const run = (args: string[], options: Start = {}): Promise<Outcome> =>
    coffer(home, args, { ...options, env: { COFFER_URL: url, ...options.env } });
  return {
    home,
    run,
    async data(args, options) {
      const { code, stdout, stderr } = await run(args, options);
      if (code !== 0) throw new Error(`coffer ${args.join(" ")} ended with ${code ?? "a signal"}: ${stderr}`);
      return stdout.replace(/\n$/, "");
    },
  };
}

/** A registered owner of a new organization. */
export async function newPerson(t: TestScope, url: string, email: string): Promise<Cli> {
  const cli = newCli(t, url);
  await cli.data(["register", "--email", email, "--org", `Org of ${email}`], { env: { COFFER_PASSWORD: password } });
  return cli;
}

/** The configuration file of a new machine with grants, such as `production:read`. */
export async function newMachine(cli: Cli, app: string, folders: string[]): Promise<string> {
  const flags = folders.flatMap((folder) => ["--folder", folder]);
  const token = await cli.data(["token", "create", "--app", app, ...flags]);
  mkdirSync(join(cli.home, "machines"), { recursive: true });
  const file = join(cli.home, "machines", `${token.slice(-8)}.json`);
  await cli.data(["bootstrap", "--config", file], { env: { COFFER_TOKEN: token } });
  return file;
}

import { CofferError } from "@coffer/sdk/errors";
import { Command, CommanderError, Option } from "commander";
import { type Call, type CommandRow, configOption, type DataOptions, type OptionRow } from "./command-row.ts";
import { exitCodeFor, exitCodes, Failure } from "./failure.ts";
import { withoutSecretWords } from "./output/concealed.ts";
import { visible } from "./output/output.ts";
import { groups, nouns } from "./rows/index.ts";
import { version } from "@coffer/sdk/version";

const exitCodesHelp = `
Exit codes: 0 done, 1 failure, 2 wrong use, 3 not authenticated, 4 denied, 5 not found, 6 rate limited, 7 no connection.
Passwords, tokens and values come by prompt, stdin, file or environment, never by flag.`;

/**
 * Runs the command that these words name. Throws what it throws, but for a wrong use that commander
 * has printed.
 */
export async function runProgram(argv: readonly string[]): Promise<void> {
  try {
    await buildProgram(process.env).parseAsync(
      argv[0] === "help" && argv[1]?.startsWith("-") === true ? ["--help"] : argv,
      { from: "user" },
    );
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
  }
}

/** Builds the whole command line from its rows. Loads no command's code. */
function buildProgram(env: NodeJS.ProcessEnv): Command {
  const program = new Command("coffer")
    .description("Coffer: secrets for people and machines, encrypted before they leave this machine.")
    .version(version, "-V, --version", "print the version")
    .enablePositionalOptions()
    .showHelpAfterError("(coffer --help shows how)")
    .configureOutput({ outputError: (text, write) => write(withoutSecretWords(inOurWords(text))) })
    .addHelpText(
      "before",
      examplesText([
        "coffer register --email you@example.com --org Example",
        "coffer login --email you@example.com",
        "coffer read coffer://production/database/field/password",
        "DB_PASSWORD=coffer://production/database/field/password coffer run -- ./server",
      ]),
    )
    .addHelpText("after", exitCodesHelp)
    .exitOverride();
  for (const [heading, rows] of groups)
    for (const row of rows) addRow(parentOf(program, row, rows, heading), row, heading, env);
  return program;
}

function parentOf(program: Command, row: CommandRow, rows: readonly CommandRow[], heading: string): Command {
  const [noun, verb] = row.name.split(" ") as [string, string?];
  if (verb === undefined) return program;
  const present = program.commands.find((command) => command.name() === noun);
  if (present !== undefined) return present;
  const parent = program.command(noun).description(nouns[noun] ?? noun);
  const examples = rows.filter(({ name }) => name.startsWith(`${noun} `)).flatMap((one) => one.examples.slice(0, 1));
  parent.addHelpText("before", examplesText(examples));
  parent.showHelpAfterError(`(coffer ${noun} --help shows how)`);
  return parent.helpGroup(heading).enablePositionalOptions();
}

function addRow(parent: Command, row: CommandRow, heading: string, env: NodeJS.ProcessEnv): void {
  const command = parent.command(row.name.split(" ").at(-1) as string).description(row.summary);
  command.showHelpAfterError(`(coffer ${row.name} --help shows how)`);
  // For a command with subcommands, as `scan`, options after their names belong to them.
  command.enablePositionalOptions();
  if (parent.parent === null) command.helpGroup(heading);
  if (row.args !== undefined) command.arguments(row.args);
  for (const option of row.options) command.addOption(optionOf(option));
  command.addHelpText("before", examplesText(row.examples));
  if (row.passThrough === true) command.passThroughOptions();
  command.action(async () => {
    const run = (await row.load()) as (call: Call<object>) => Promise<void>;
    const call: Call<DataOptions> = { args: command.args, options: command.opts(), env };
    await run(call).catch(async (error: unknown) => {
      if (!row.options.includes(configOption) || !isRefused(error)) throw error;
      // Here alone: `coffer scan` starts without the SDK.
      const { machineConfigurationOf } = await import("./service/access.ts");
      if (machineConfigurationOf(call.options, env) === undefined)
        throw env["COFFER_CONFIG"] === "" ? noConfiguration(error) : error;
      throw error instanceof Failure ? error : cutOff(error);
    });
  });
}

function isRefused(error: unknown): error is CofferError | Failure {
  if (error instanceof Failure) return exitCodeFor(error) === exitCodes.notAuthenticated;
  return error instanceof CofferError && error.code === "invalid_token";
}

/** A CI system sets the variable also when a job does not have the secret. */
function noConfiguration({ message }: CofferError | Failure): Failure {
  return new Failure(exitCodes.notAuthenticated, `COFFER_CONFIG is empty, so that this is no machine; ${message}`);
}

/** A machine cannot log in again. */
function cutOff({ message }: CofferError): Failure {
  return new Failure(
    exitCodes.notAuthenticated,
    `${visible(message)}: if this machine was revoked, it needs a new one-time token`,
  );
}

function optionOf(row: OptionRow): Option {
  const option = new Option(row.flags, row.description);
  if (row.required === true) option.makeOptionMandatory();
  if (row.preset !== undefined) option.default(row.preset);
  if (row.choices !== undefined) option.choices(row.choices);
  if (row.repeated === true)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

function examplesText(examples: readonly string[]): string {
  return `Examples:\n${examples.map((example) => `  ${example}\n`).join("")}`;
}

/**
 * Commander's message about a wrong use, in our form, with only likely suggestions. It names no
 * extra argument and no value of an unknown option, because either may be a password or a secret's
 * value.
 */
function inOurWords(text: string): string {
  const far = /'-*([^'-])[^']*'\n\(Did you mean -*(?!-|\1)/;
  return (far.test(text) ? text.replace(/\n\(Did you mean .*\)/, "") : text)
    .replace(/^error: /, "coffer: ")
    .replace(/^(coffer: too many arguments .* but got \d+): .*\.$/ms, "$1.")
    .replace(/^(coffer: unknown option '--?[a-z][a-z-]*)=.*'$/ims, "$1=***'");
}

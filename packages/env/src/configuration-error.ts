/** All problems of an environment at once. The message has a line per problem. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  ${problem}`)].join("\n"));
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}

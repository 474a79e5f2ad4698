/**
 * The input of a command: its arguments, its options by their camel-case names, and the
 * environment.
 */
export interface Call<Options> {
  args: string[];
  options: Options;
  env: NodeJS.ProcessEnv;
}

/** `--url`: on every command. */
export interface AddressOptions {
  url?: string;
  /** Accepts plain http to another machine. */
  insecureHttp?: boolean;
  /** Set by commands, not by an option: a `Retry-After` of more than 2 s is an error at once. */
  withoutWaiting?: boolean;
}

/** On every command that works as a person. */
export interface PersonOptions extends AddressOptions {
  org?: string;
  json?: boolean;
}

/** On every command that works as a person or a machine. */
export interface DataOptions extends PersonOptions {
  config?: string;
  unsealedTitles?: boolean;
}

/** On commands that a machine can run with its stored values. */
export interface CachedOptions extends DataOptions {
  cache?: string;
}

export interface OptionRow {
  /** As commander reads them: `--app <name>`. */
  flags: string;
  description: string;
  required?: boolean;
  /** May be given several times. The values are an array. */
  repeated?: boolean;
  choices?: readonly string[];
  /** The default value. */
  preset?: string;
}

/** One command: everything that `--help` shows of it, and the location of its code. */
export interface CommandRow {
  /** `read`, or with its noun `folder create`. */
  name: string;
  /** As commander reads them: `<uri>`, `[folder]`, `<command...>`. */
  args?: string;
  summary: string;
  examples: readonly string[];
  options: readonly OptionRow[];
  /** Options after the first argument belong to that argument. */
  passThrough?: boolean;
  /** Loads the code only when the command is called, because starting must be fast. */
  load(): Promise<(call: Call<never>) => Promise<void>>;
}

export const urlOption: OptionRow = {
  flags: "--url <address>",
  description: "address of the service (else COFFER_URL, the profile's, the local run's)",
};
/** On every command that has `--url`. */
export const insecureHttpOption: OptionRow = {
  flags: "--insecure-http",
  description: "accept plain http:// to another machine, where others can read and use what is sent",
};
/** On every command that may need the second factor. */
export const otpOptions: readonly OptionRow[] = [
  { flags: "--otp <code>", description: "an authenticator's code (else prompted for when needed)" },
  { flags: "--otp-file <file>", description: "read the code, or a recovery code, from a file's first line" },
];
export const jsonOption: OptionRow = { flags: "--json", description: "print data as JSON" };
export const orgOption: OptionRow = {
  flags: "--org <name>",
  description: "the organization, by name or id (else the oldest membership)",
};
export const configOption: OptionRow = {
  flags: "--config <file>",
  description: "work as the machine of this configuration (else COFFER_CONFIG: a path, the JSON, or its base64)",
};

/** The stored values of a machine. */
export const cacheOption: OptionRow = {
  flags: "--cache <file>",
  description: "as a machine: store the values, sealed, in this file, and use them while the service is unavailable",
};

/** Confirms a public key that no history confirms. */
export const confirmOptions: readonly OptionRow[] = [
  {
    flags: "--fingerprint <fingerprint>",
    description: "a fingerprint (hex or words) that you have compared with its holder; several times for several",
    repeated: true,
  },
];

/** On commands that prompt for a confirmation. */
export const yesOption: OptionRow = { flags: "--yes", description: "without the question" };

/** On commands that find a secret by its title. */
export const unsealedTitlesOption: OptionRow = {
  flags: "--unsealed-titles",
  description: "take the service's word for the title of a secret that has no sealed one",
};

export const personOptions = [urlOption, orgOption, jsonOption];
export const dataOptions = [configOption, ...personOptions];

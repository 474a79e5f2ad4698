/** What a command is given: its arguments, its options by their camel-case names, and the environment. */
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

/** On commands that a machine may run on the values that it has kept. */
export interface CachedOptions extends DataOptions {
  cache?: string;
}

export interface OptionRow {
  /** As commander reads them: `--app <name>`. */
  flags: string;
  description: string;
  required?: boolean;
  /** May be given several times; the values are an array. */
  repeated?: boolean;
  choices?: readonly string[];
  /** The value without the option. */
  preset?: string;
}

/** One command: all that `--help` shows of it, and where its code is. */
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
  /** Loads the code when the command is called, and not before: starting must stay fast. */
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
/** On every command that may be asked for the second factor. */
export const otpOptions: readonly OptionRow[] = [
  { flags: "--otp <code>", description: "an authenticator's code (else asked for when it is needed)" },
  { flags: "--otp-file <file>", description: "read the code, or a recovery code, from a file's first line" },
];
export const jsonOption: OptionRow = { flags: "--json", description: "print data as JSON" };
const orgOption: OptionRow = {
  flags: "--org <name>",
  description: "the organization, by name or id (else the oldest membership)",
};
export const configOption: OptionRow = {
  flags: "--config <file>",
  description: "work as the machine of this configuration (else COFFER_CONFIG: a path, the JSON, or its base64)",
};

/** What a machine falls back on. */
export const cacheOption: OptionRow = {
  flags: "--cache <file>",
  description: "as a machine: keep the values, sealed, in this file, and use them while the service is away",
};

/** What a member is given to do. */
export const permissionOption: OptionRow = {
  flags: "--permission <permission>",
  description: "what the member may do",
  choices: ["read", "write", "manage"],
  preset: "read",
};
/** How a public key that no history confirms is confirmed. */
export const confirmOptions: readonly OptionRow[] = [
  {
    flags: "--fingerprint <fingerprint>",
    description: "a fingerprint (hex or words) that you have compared with its holder; several times for several",
    repeated: true,
  },
];

/** On commands that ask at the terminal whether something is expected. */
export const yesOption: OptionRow = { flags: "--yes", description: "without the question" };

/** On commands that find a secret by its title. */
export const unsealedTitlesOption: OptionRow = {
  flags: "--unsealed-titles",
  description: "take the service's word for the title of a secret that has no sealed one",
};

export const personOptions = [urlOption, orgOption, jsonOption];
export const dataOptions = [configOption, ...personOptions];

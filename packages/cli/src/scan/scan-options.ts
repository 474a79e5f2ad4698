/** The options of `coffer scan` as the command line gives them. */
export interface ScanCommandOptions {
  staged?: boolean;
  range?: string;
  history?: boolean;
  diff?: boolean;
  stdin?: boolean;
  path?: string;
  format?: string;
  config?: string;
  enable?: string[];
  disable?: string[];
  minConfidence?: string;
  /** A path; false with `--no-baseline`; true without either option. */
  baseline?: string | boolean;
  showSecrets?: boolean;
  exitCode?: string;
  maxFileMb?: string;
  threads?: string;
  /** False with `--no-git-ignore`. */
  gitIgnore?: boolean;
  compatComments?: boolean;
  binary?: boolean;
  reflog?: boolean;
  output?: string;
}

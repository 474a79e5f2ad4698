import type { Finding, Problem } from "@coffer/scan";

/** Everything that a format may show. No part of it holds a secret, unless `--show-secrets` asked for it. */
export interface Report {
  findings: readonly Finding[];
  problems: readonly Problem[];
  /** Inputs that were scanned, and their size in bytes. */
  inputs: number;
  bytes: number;
  /** Binary files that were not searched. */
  binary: number;
  /** Secrets that the baseline holds. */
  inBaseline: number;
  /** Secrets that `.cofferignore` lists. */
  ignored: number;
  version: string;
}

/** The secret as a report shows it. */
export function shown({ secret, redacted }: Finding): string {
  return secret ?? redacted;
}

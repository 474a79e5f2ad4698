import type { Checksum, Confidence } from "./finding.ts";
import type { Random } from "./examples/random.ts";

/** A text that has the form of a rule, with the text around it. Bytes are read as latin1. */
export interface Candidate {
  readonly secret: string;
  /** The named groups of the pattern. */
  readonly groups: Readonly<Record<string, string | undefined>>;
  /** Up to `count` characters to the left of the secret. */
  before(count: number): string;
  /** Up to `count` characters to the right of the secret. */
  after(count: number): string;
}

/** The result of a rule's check for a candidate that is a credential. */
export interface Verdict {
  confidence: Confidence;
  checksum?: Checksum;
  accountId?: string;
  /** The rule under which the secret is reported, when nearby words name another vendor. */
  reportAs?: string;
  /** What identifies the secret in its fingerprint, when that is not its text: the DER bytes of a key. */
  identity?: Uint8Array;
}

/** A match of a rule that has no pattern but a function. Offsets are in the searched text. */
export interface Found {
  start: number;
  end: number;
  groups?: Record<string, string | undefined>;
}

export interface Examples {
  /** Texts in which the rule finds exactly one secret. Made at run time: no example is stored. */
  positive(random: Random): string[];
  /** Texts that look alike, in which the rule reports nothing of confidence medium or high. */
  negative(random: Random): string[];
}

/** One kind of credential of one vendor, as data. */
export interface Rule {
  /** Stable: `aws-access-key-id`. */
  id: string;
  kind: string;
  description: string;
  /** The vendor's page about this credential. */
  reference: string;
  /** Where the owner revokes it; without it the reference. */
  revoke?: string;
  /** Each text that the rule finds contains one of these, within the window. */
  keywords: readonly string[];
  /** Keywords match in upper and lower case. Without it they match exactly. */
  anyCase?: boolean;
  /** A character without which a window is not searched. */
  requires?: string;
  /** How many bytes around a keyword are searched. */
  window?: { before: number; after: number };
  /**
   * Global, with the named group `secret` unless the whole match is the secret. Every quantifier is
   * bounded.
   */
  pattern?: RegExp;
  /** In place of a pattern. Runs in time linear in the text. */
  find?: (text: string) => Found[];
  confidence: Confidence;
  /** The least entropy of the secret after its prefix, in bits per character. */
  minEntropy?: number;
  /** Returns null for a text that is no credential. */
  check?: (candidate: Candidate) => Verdict | null;
  /** What may be shown of the secret; without it the keyword with which the secret starts. */
  shown?: RegExp;
  /** The secret contains a checksum that the check verifies. */
  hasChecksum?: boolean;
  /** Gives way to every other rule that reports the same characters. */
  yields?: boolean;
  /** Runs only when it is enabled by name. */
  optIn?: boolean;
  /** Known by its context alone: not applied to lock files, which are full of hashes. */
  contextOnly?: boolean;
  /** Confidence is high when a finding of this rule stands within five lines. */
  pairsWith?: string;
  examples: Examples;
}

export const confidences = ["low", "medium", "high"] as const;
export type Confidence = (typeof confidences)[number];

/** Whether the checksum inside a secret is right; `none` where its kind has no checksum. */
export type Checksum = "valid" | "invalid" | "none";

/** A place in a text. Lines and columns count from 1, columns in UTF-16 code units, the end is exclusive. */
export interface Location {
  path: string;
  start_line: number;
  start_column: number;
  end_line: number;
  end_column: number;
  commit?: string;
}

/** A found secret, apart from its places. */
export interface SecretDescription {
  /** The specification's term, such as `cloud provider access key`. */
  kind: string;
  rule_id: string;
  confidence: Confidence;
  redacted: string;
  /** Of the secret, in bytes. */
  length: number;
  /** `cf1:` and 32 hex digits, of kind and secret alone. */
  fingerprint: string;
  checksum: Checksum;
  account_id?: string;
  /** Present only when the caller asked for secrets in plain text. */
  secret?: string;
}

/** One secret in one place. */
export interface Occurrence extends SecretDescription {
  location: Location;
}

/** One secret with all places where it stands. */
export interface Finding extends SecretDescription {
  locations: Location[];
}

/** An input that could not be scanned, and why. The message holds no secret. */
export interface Problem {
  path: string;
  message: string;
}

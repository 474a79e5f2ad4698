// Vaults and their records.

export interface RecordField {
  key: string;
  /** Empty for a secret, which `reveal` gives. */
  value: string;
  secret: boolean;
}

export interface RecordDetail {
  id: string;
  vaultId: string;
  type: string;
  updatedAt: string;
  fields: RecordField[];
}

export interface OneTimeCode {
  code: string;
  /** Unix milliseconds at which another code begins. */
  until: number;
  periodSeconds: number;
}

export type Changes = Record<string, string | null>;

/** A record that was changed elsewhere since the person began. */
export interface Conflict {
  updatedAt: string;
  /** The other values of the fields that the person changed. A field that is not there was removed. */
  theirs: Record<string, string>;
}

/** The characters beside small letters that a new password may have. */
export const characterSets = ["capitals", "digits", "symbols"] as const;

export type CharacterSet = (typeof characterSets)[number];

export interface NewPassword {
  kind: "characters" | "words";
  length: number;
  /** Characters that a site refuses. */
  without?: readonly CharacterSet[];
}

export interface RecordsCalls {
  createVault(input: { name: string; type: "personal" | "shared" }): { id: string };
  createRecord(input: { vaultId: string; type: string; fields: Record<string, string> }): { id: string };
  readRecord(id: string): RecordDetail;
  /** One field of a record, to show, edit or copy it. */
  reveal(input: { id: string; key: string }): string;
  oneTimeCode(id: string): OneTimeCode;
  /** Changes these fields, null removes one; unless the record was changed since `updatedAt`. */
  saveRecord(input: { id: string; changes: Changes; updatedAt: string }): { conflict: Conflict | null };
  removeRecord(id: string): null;
  newPassword(wish: NewPassword): string;
}

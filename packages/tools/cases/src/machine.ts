import type { KeyObject } from "node:crypto";

/** A bootstrapped client, by its names in steps. */
export interface Machine {
  client_id: string;
  application_id: string;
  org_id: string;
  /** base64 of the SPKI DER. */
  public_key: string;
  privateKey: KeyObject;
}

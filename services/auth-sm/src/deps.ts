import type { AuditDraft } from "@coffer/events";
import type { ServiceBase } from "@coffer/service";
import type { MachineClaims, UserClaims } from "@coffer/tokens";
import type { ClientActivity } from "./clients/activity.ts";
import type { Config } from "./config.ts";
import type { ServerKeys } from "./keys/server-keys.ts";
import type { Announcer } from "./sessions/announce.ts";
import type { SecretReads } from "./store/secrets/secret-reads.ts";
import type { SecretWrites } from "./store/secrets/secret-writes.ts";

/** The first argument of every operation. Built once, by hand, in service.ts. */
export interface Deps extends Omit<ServiceBase<Config>, "migrations" | "name"> {
  /** A new UUIDv7. */
  newId(): string;
  /** Cryptographically random bytes. */
  randomBytes(count: number): Buffer;
  /**
   * The signing keys of access tokens, the OPAQUE setups, and the keys of refresh tokens and MACs.
   */
  keys: ServerKeys;
  /**
   * Stores the audit record of a read and resolves after the commit. For null it takes as long and
   * stores nothing.
   */
  audit(record: AuditDraft | null): Promise<void>;
  /** Verifies a machine's self-signed token. */
  verifyMachine(token: string): Promise<MachineClaims>;
  /** Verifies a person's access token. */
  verifyUser(token: string): Promise<UserClaims>;
  /** The prepared statements of the most frequent reads. */
  reads: SecretReads;
  /** The prepared statements that write secrets. */
  writes: SecretWrites;
  /** Publishes ended sessions to Redis. */
  announcer: Announcer;
  /** Stores when and from where each client was last used. */
  activity: ClientActivity;
}

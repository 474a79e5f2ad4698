import type { AuditDraft } from "@coffer/events";
import type { ServiceBase } from "@coffer/service";
import type { MachineClaims, UserClaims } from "@coffer/tokens";
import type { ClientActivity } from "./clients/activity.ts";
import type { Config } from "./config.ts";
import type { ServerKeys } from "./keys/server-keys.ts";
import type { Announcer } from "./sessions/announce.ts";
import type { SecretReads } from "./store/secret-reads.ts";
import type { SecretWrites } from "./store/secret-writes.ts";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Omit<ServiceBase<Config>, "migrations" | "name"> {
  /** A new UUIDv7. */
  newId(): string;
  /** Cryptographically random bytes. */
  randomBytes(count: number): Buffer;
  /** Signing keys of people's tokens, OPAQUE setups, the key of refresh tokens. */
  keys: ServerKeys;
  /** Makes the audit record of a read durable; resolves after its commit. For null it takes as long and leaves none. */
  audit(record: AuditDraft | null): Promise<void>;
  /** Verifies a machine's self-signed token. */
  verifyMachine(token: string): Promise<MachineClaims>;
  /** Verifies a person's access token. */
  verifyUser(token: string): Promise<UserClaims>;
  /** The prepared statements of the hottest reads. */
  reads: SecretReads;
  /** The prepared statements that write secrets. */
  writes: SecretWrites;
  /** Tells Redis which sessions have ended. */
  announcer: Announcer;
  /** Remembers when and from where a client was last seen. */
  activity: ClientActivity;
}

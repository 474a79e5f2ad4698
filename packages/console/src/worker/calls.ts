import { isSecret } from "../record-fields.ts";
import type { CallHandlers } from "./call-handlers.ts";
import { lock, unlock } from "./session/password.ts";
import { tell, unlocked } from "./session/session.ts";
import type { ConsoleSession } from "./session/session.ts";
import { giveCode, keptRecoveryKey, recover, register, signIn, signOut } from "./session/sign-in.ts";
import { addPasskey, removePasskeys, startPasskey, unlockPasskey } from "./session/use-passkey.ts";

/** The calls of which the first minute consists. The others are in `later-calls.ts`. */
export function createCalls(session: ConsoleSession) {
  return {
    signIn: (input) => signIn(session, input),
    giveCode: (code) => giveCode(session, code),
    register: (input) => register(session, input),
    recover: (input) => recover(session, input),
    keptRecoveryKey: (recoveryKey) => keptRecoveryKey(session, recoveryKey),
    unlock: (password) => unlock(session, password),
    unlockPasskey: (answer) => unlockPasskey(session, answer),
    startPasskey: (password) => startPasskey(session, password),
    addPasskey: (input) => addPasskey(session, input),
    removePasskeys: () => removePasskeys(session),
    lock: () => lock(session),
    signOut: () => signOut(session),
    touch() {
      session.idle.touch();
      return Promise.resolve(null);
    },
    async changeSettings(part) {
      await session.settings.change(part);
      tell(session);
      return null;
    },
    async createRecord({ vaultId, type, fields }) {
      const { client, written } = unlocked(session);
      const record = await client.records.create(vaultId, { type, fields });
      written(record);
      return { id: record.id };
    },
    async readRecord(id) {
      const { vault_id: vaultId, type, fields, updated_at: updatedAt } = await unlocked(session).record(id);
      const shown = Object.entries(fields).map(([key, value]) => {
        const secret = isSecret(key, fields);
        return { key, value: secret ? "" : value, secret };
      });
      return { id, vaultId, type, updatedAt, fields: shown };
    },
    async reveal({ id, key }) {
      const { fields } = await unlocked(session).record(id);
      return fields[key] ?? "";
    },
    async removeRecord(id) {
      const { client, record, removed } = unlocked(session);
      const { vault_id: vaultId } = await record(id);
      await client.records.remove(vaultId, id);
      removed(id);
      return null;
    },
  } satisfies Partial<CallHandlers>;
}

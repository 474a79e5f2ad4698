import { isSecret } from "../record-fields.ts";
import type { CallHandlers } from "./call-handlers.ts";
import type { ConsoleSession } from "./session/session.ts";

/** The calls of which the first minute consists. The others are in `later-calls.ts`. */
export function createCalls(session: ConsoleSession) {
  const { unlocked } = session;
  return {
    signIn: (input) => session.signIn(input),
    giveCode: (code) => session.giveCode(code),
    register: (input) => session.register(input),
    recover: (input) => session.recover(input),
    keptRecoveryKey: (recoveryKey) => session.keptRecoveryKey(recoveryKey),
    unlock: (password) => session.unlock(password),
    unlockPasskey: (answer) => session.unlockPasskey(answer),
    startPasskey: (password) => session.startPasskey(password),
    addPasskey: (input) => session.addPasskey(input),
    removePasskeys: () => session.removePasskeys(),
    lock: () => session.lock(),
    signOut: () => session.signOut(),
    touch() {
      session.touch();
      return Promise.resolve(null);
    },
    changeSettings: (part) => session.changeSettings(part),
    async createRecord({ vaultId, type, fields }) {
      const { client, written } = unlocked();
      const record = await client.records.create(vaultId, { type, fields });
      written(record);
      return { id: record.id };
    },
    async readRecord(id) {
      const { vault_id: vaultId, type, fields, updated_at: updatedAt } = await unlocked().record(id);
      const shown = Object.entries(fields).map(([key, value]) => {
        const secret = isSecret(key, fields);
        return { key, value: secret ? "" : value, secret };
      });
      return { id, vaultId, type, updatedAt, fields: shown };
    },
    async reveal({ id, key }) {
      const { fields } = await unlocked().record(id);
      return fields[key] ?? "";
    },
    async removeRecord(id) {
      const { client, record, removed } = unlocked();
      const { vault_id: vaultId } = await record(id);
      await client.records.remove(vaultId, id);
      removed(id);
      return null;
    },
  } satisfies Partial<CallHandlers>;
}

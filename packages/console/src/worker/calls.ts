import { CofferError } from "@coffer/sdk";
import type { AccountSecurity, AskOtp } from "@coffer/sdk/account";
import type { Calls, Proof } from "../protocol.ts";
import { isSecret } from "../record-fields.ts";
import { Refusal } from "./failure.ts";
import { newPassword } from "./new-password.ts";
import type { ConsoleSession } from "./session.ts";

export type CallHandlers = {
  [Name in keyof Calls]: (input: Parameters<Calls[Name]>[0]) => Promise<ReturnType<Calls[Name]>>;
};

// Loaded when they are first used. They import nothing that the worker starts with, which would divide it into more files.
const saving = () => import("./save-record.ts");
const travelling = () => import("./travel.ts");
const sharing = () => import("./sharing.ts");
const auditing = () => import("./audit.ts");
const accounts = () => import("./account.ts");

/** What the worker does for the page. Each throws CofferError or Refusal. */
export function createCalls(session: ConsoleSession): CallHandlers {
  const { unlocked } = session;

  /** Does what needs the password. Throws Refusal `wrong_password`, `code_needed` and `otp_required`. */
  const proven = async <T>(
    { password, code }: Proof,
    run: (security: AccountSecurity, proof: { password: string; otp: AskOtp }) => Promise<T>,
  ): Promise<T> => {
    const otp = (again: boolean): Promise<string> =>
      code === "" || again
        ? Promise.reject(new Refusal(again ? "otp_required" : "code_needed"))
        : Promise.resolve(code);
    try {
      return await run(await unlocked().security(), { password, otp });
    } catch (error) {
      throw error instanceof CofferError && error.code === "invalid_credentials"
        ? new Refusal("wrong_password")
        : error;
    }
  };

  return {
    signIn: (input) => session.signIn(input),
    giveCode: (code) => session.giveCode(code),
    register: (input) => session.register(input),
    keptRecoveryKey: () => session.keptRecoveryKey(),
    unlock: (password) => session.unlock(password),
    lock: () => session.lock(),
    signOut: () => session.signOut(),
    touch() {
      session.touch();
      return Promise.resolve(null);
    },
    async createVault({ name, type }) {
      const { client, refreshVaults } = unlocked();
      const { id } = await client.vaults.create(name, { type });
      await refreshVaults(id);
      return { id };
    },
    async offer(vaultId) {
      const { name, from, organization } = await unlocked().client.vaults.offer(vaultId);
      return { name, from, organization: organization?.name ?? null };
    },
    async acceptOffer(vaultId) {
      const { client, refreshVaults } = unlocked();
      await client.vaults.accept(vaultId);
      await refreshVaults(vaultId);
      return null;
    },
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
    async oneTimeCode(id) {
      const { fields } = await unlocked().record(id);
      // Most people have few of them: the start needs no code for them.
      const { oneTimeCode } = await import("./one-time-code.ts");
      const code = await oneTimeCode(fields["totp_secret"] ?? "", Date.now());
      if (code === null) throw new Refusal("no_code");
      return code;
    },
    saveRecord: async (input) => (await saving()).saveRecord(unlocked(), input),
    async removeRecord(id) {
      const { client, record, removed } = unlocked();
      const { vault_id: vaultId } = await record(id);
      await client.records.remove(vaultId, id);
      removed(id);
      return null;
    },
    newPassword: (wish) => Promise.resolve(newPassword(wish)),
    travel: async () => (await travelling()).travelView(unlocked().client),
    async setSafeForTravel({ vaultId, safe }) {
      const { client, vaultChanged } = unlocked();
      vaultChanged(await client.vaults.update(vaultId, { safeForTravel: safe }));
      return null;
    },
    startTravel: async () => (await travelling()).startTravel(unlocked()),
    async stopTravel(proof) {
      await proven(proof, (security, given) => security.stopTravel(given));
      return (await travelling()).travelView(unlocked().client);
    },
    account: async () => (await accounts()).accountView(unlocked()),
    endSession: async (id) => (await accounts()).endSession(unlocked(), id),
    async startSecondFactor(proof) {
      const { secret, otpauth_url: address } = await proven(proof, (security, given) => security.startTotp(given));
      return { secret, address };
    },
    confirmSecondFactor: async (code) => (await accounts()).confirmSecondFactor(unlocked(), code),
    async stopSecondFactor(proof) {
      await proven(proof, (security, given) => security.stopTotp(given));
      return (await accounts()).accountView(unlocked());
    },
    async changePassword({ newPassword: chosen, newRecoveryKey, ...proof }) {
      const { recoveryKey = null } = await proven(proof, (security, given) =>
        security.changePassword({ ...given, newPassword: chosen, newRecoveryKey }),
      );
      await session.passwordChanged(chosen);
      return { recoveryKey };
    },
    sharing: async (vaultId) => (await sharing()).sharingOf(unlocked(), vaultId),
    share: async (input) => (await sharing()).share(unlocked(), input),
    audit: async (wish) => (await auditing()).auditOf(unlocked(), wish),
    verifyAudit: async (organization) => (await auditing()).verifyAudit(unlocked(), organization),
    unshare: async (input) => (await sharing()).unshare(unlocked(), input),
  };
}

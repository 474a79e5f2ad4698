import type { AccountSecurity, AskOtp } from "@coffer/sdk/account";
import type { Proof } from "../protocol/account.ts";
import { accountView, confirmSecondFactor, endSession } from "./account.ts";
import { auditOf, exportAudit, verifyAudit } from "./organization/audit.ts";
import type { CallHandlers } from "./call-handlers.ts";
import type { createCalls } from "./calls.ts";
import {
  createDestination,
  destinationsView,
  removeDestination,
  switchDestination,
} from "./organization/destinations.ts";
import { codeOf } from "@coffer/sdk/code-of";
import { createFolder, foldersView, secretValue, setField } from "./platform/folders.ts";
import { exportVault, importFile, readFile } from "./records/import-file.ts";
import {
  applicationView,
  applicationsView,
  createMachineToken,
  removeApplication,
  revokeMachine,
} from "./platform/machines.ts";
import type { WordsOf } from "./platform/machines.ts";
import { copyValue, matrixView, pasteEnv } from "./platform/matrix.ts";
import { oneTimeCode } from "./records/one-time-code.ts";
import { newPassword } from "./records/new-password.ts";
import { createOrganization, organizationsView, organizationView } from "./organization/organization.ts";
import { invitationView, invite, join, peopleView, removeMember, setRole, withdraw } from "./organization/people.ts";
import { confirmMember, personDetail } from "./organization/person.ts";
import { saveRecord } from "./records/save-record.ts";
import { secretReaders } from "./platform/secret-readers.ts";
import { remove, rename, rotate, share, sharingOf, unshare } from "./sharing.ts";
import { toDoView } from "./to-do.ts";
import { shownHistories, trustShown, trustView } from "./trust.ts";
import { startTravel, travelView } from "./travel.ts";
import type { Workspace } from "./workspace.ts";

// The worker loads this with the first of these calls. Nothing of it may import what the worker starts with, other than
// types: that would divide the worker into more files.

/** The parts of the worker that these calls use. */
export interface LaterDeps {
  /** The open session's clients and keys. Throws the failure `locked` without a session. */
  unlocked: () => Workspace;
  /**
   * Takes as many wrong passwords as unlocking does, then the session ends. Throws the failure
   * `wrong_password`.
   */
  checkPassword: (password: string) => Promise<unknown>;
  /** From now on the new password opens a locked session. A session that is locked already ends. */
  passwordChanged: (password: string) => Promise<void>;
  /** Makes the error that the page learns by its code. */
  refuse: (code: string) => Error;
  wordsOf: WordsOf;
}

export function createLaterCalls({
  unlocked,
  checkPassword,
  passwordChanged,
  refuse,
  wordsOf,
}: LaterDeps): Omit<CallHandlers, keyof ReturnType<typeof createCalls>> {
  /** Does what needs the password. Refuses with `wrong_password`, `code_needed` and `otp_required`. */
  const proven = async <T>(
    { password, code }: Proof,
    run: (security: AccountSecurity, proof: { password: string; otp: AskOtp }) => Promise<T>,
  ): Promise<T> => {
    const otp = (again: boolean): Promise<string> =>
      code === "" || again ? Promise.reject(refuse(again ? "otp_required" : "code_needed")) : Promise.resolve(code);
    try {
      return await run(await unlocked().security(), { password, otp });
    } catch (error) {
      throw codeOf(error) === "invalid_credentials" ? refuse("wrong_password") : error;
    }
  };

  return {
    async createVault({ name, type }) {
      const { client, organization, inOrganization, refreshVaults } = unlocked();
      // The history of a shared one names the organization.
      const isElsewhere = type === "shared" && organization !== "";
      const { vaults } = isElsewhere ? inOrganization(organization) : client;
      const { id } = await vaults.create(name, { type });
      if (isElsewhere) await client.vaults.get(id);
      await refreshVaults(id);
      return { id };
    },
    async offer({ kind, id }) {
      const { vaults, folders } = unlocked().client;
      const { name, from, organization, same_name: others } = await (kind === "vault" ? vaults : folders).offer(id);
      return { name, from, organization: organization?.name ?? null, isTaken: others.length > 0 };
    },
    async acceptOffer({ kind, id, name }) {
      const { client, refreshVaults } = unlocked();
      await (kind === "vault" ? client.vaults : client.folders).accept(id, { name });
      if (kind === "vault") await refreshVaults(id);
      return null;
    },
    async oneTimeCode(id) {
      const { fields } = await unlocked().record(id);
      const code = await oneTimeCode(fields["totp_secret"] ?? "", Date.now());
      if (code === null) throw refuse("no_code");
      return code;
    },
    newPassword: (wish) => Promise.resolve(newPassword(wish)),
    saveRecord: (input) => saveRecord(unlocked(), input),
    travel: () => travelView(unlocked().client),
    async setSafeForTravel({ vaultId, safe }) {
      const { client, vaultChanged } = unlocked();
      vaultChanged(await client.vaults.update(vaultId, { safeForTravel: safe }));
      return null;
    },
    startTravel: () => startTravel(unlocked()),
    async stopTravel(proof) {
      await proven(proof, (security, given) => security.stopTravel(given));
      return travelView(unlocked().client);
    },
    account: () => accountView(unlocked()),
    endSession: (id) => endSession(unlocked(), id),
    async startSecondFactor(proof) {
      const { secret, otpauth_url: address } = await proven(proof, (security, given) => security.startTotp(given));
      return { secret, address };
    },
    confirmSecondFactor: (code) => confirmSecondFactor(unlocked(), code),
    async stopSecondFactor(proof) {
      await proven(proof, (security, given) => security.stopTotp(given));
      return accountView(unlocked());
    },
    async changePassword({ newPassword: chosen, newRecoveryKey, ...proof }) {
      const { recoveryKey = null } = await proven(proof, (security, given) =>
        security.changePassword({ ...given, newPassword: chosen, newRecoveryKey }),
      );
      await passwordChanged(chosen);
      return { recoveryKey };
    },
    sharing: (shared) => sharingOf(unlocked(), shared),
    rotate: (shared) => rotate(unlocked(), shared),
    rename: (input) => rename(unlocked(), input),
    remove: (shared) => remove(unlocked(), shared),
    share: (input) => share(unlocked(), input),
    folders: () => foldersView(unlocked()),
    createFolder: (name) => createFolder(unlocked(), name),
    secretValue: (input) => secretValue(unlocked(), input),
    async setSecret(input) {
      await setField(unlocked(), input);
      return foldersView(unlocked());
    },
    secretReaders: (secret) => secretReaders(unlocked(), secret),
    async setExpiry({ uid, expiresAt }) {
      await unlocked().client.secrets.setExpiry(uid, expiresAt);
      return foldersView(unlocked());
    },
    async removeSecret(uid) {
      await unlocked().client.secrets.remove(uid);
      return foldersView(unlocked());
    },
    matrix: () => matrixView(unlocked()),
    async setCell(input) {
      await setField(unlocked(), input);
      return matrixView(unlocked());
    },
    copyValue: (input) => copyValue(unlocked(), input),
    pasteEnv: (input) => pasteEnv(unlocked(), input),
    applications: () => applicationsView(unlocked()),
    application: (id) => applicationView(unlocked(), id, wordsOf),
    removeApplication: (id) => removeApplication(unlocked(), id),
    revokeMachine: (input) => revokeMachine(unlocked(), input, wordsOf),
    async withdrawToken({ applicationId, id }) {
      const closed = await unlocked().client.tokens.remove(applicationId, id);
      return { application: await applicationView(unlocked(), applicationId, wordsOf), closed: closed.length > 0 };
    },
    createMachineToken: (wish) => createMachineToken(unlocked(), wish),
    people: () => peopleView(unlocked()),
    invite: (input) => invite(unlocked(), input),
    withdraw: (input) => withdraw(unlocked(), input),
    setRole: (input) => setRole(unlocked(), input),
    removeMember: (userId) => removeMember(unlocked(), userId),
    person: (userId) => personDetail(unlocked(), userId, wordsOf),
    confirmMember: (input) => confirmMember(unlocked(), input, wordsOf),
    async endMemberSession({ userId, sessionId }) {
      await unlocked().client.members.endSessions(userId, sessionId ?? undefined);
      return personDetail(unlocked(), userId, wordsOf);
    },
    async setMemberStatus({ userId, status }) {
      await unlocked().client.members.update(userId, { status });
      return peopleView(unlocked());
    },
    async setMemberTravel({ userId, enabled }) {
      await unlocked().client.members.setTravel(userId, enabled);
      return null;
    },
    invitation: (invitation) => invitationView(unlocked(), invitation),
    join: (invitation) => join(unlocked(), invitation),
    readFile: (input) => readFile(unlocked(), input, refuse),
    importFile: (plan) => importFile(unlocked(), plan, refuse),
    async exportVault({ password, ...wish }) {
      await checkPassword(password);
      return exportVault(unlocked(), wish);
    },
    toDo: () => toDoView(unlocked()),
    organizations: () => organizationsView(unlocked()),
    organization: () => organizationView(unlocked()),
    createOrganization: (name) => createOrganization(unlocked(), name),
    destinations: () => destinationsView(unlocked()),
    createDestination: (input) => createDestination(unlocked(), input),
    switchDestination: (input) => switchDestination(unlocked(), input),
    removeDestination: (id) => removeDestination(unlocked(), id),
    testDestination: (id) => unlocked().client.siem.test(id),
    audit: (wish) => auditOf(unlocked(), wish),
    trust: () => trustView(unlocked()),
    shownHistories: (one) => shownHistories(unlocked(), one),
    trustShown: (input) => trustShown(unlocked(), input),
    exportAudit: (wish) => exportAudit(unlocked(), wish),
    verifyAudit: (organization) => verifyAudit(unlocked(), organization),
    unshare: (input) => unshare(unlocked(), input),
  };
}

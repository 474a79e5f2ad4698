// Applications, their machines and tokens.

import type { Permission, ToRotate } from "./sharing.ts";

export interface MachineView {
  id: string;
  name: string;
  status: "active" | "revoked" | "expired";
  /** The fingerprint of its key: six words. */
  words: string;
  /** Null when it has made no request yet. */
  lastUsedAt: string | null;
  ip: string | null;
  expiresAt: string | null;
  folders: { id: string; name: string; permission: Permission }[];
}

export interface ApplicationView {
  machines: MachineView[];
  /** Tokens that no machine has used. */
  tokens: { id: string; name: string; expiresAt: string }[];
}

export interface ApplicationsView {
  applications: { id: string; name: string }[];
  /** The folders that the person may give to machines. */
  folders: { id: string; name: string }[];
}

/** Each moment is ISO 8601; null leaves it to the service: one day for the token, no end for the machine. */
export interface TokenWish {
  /** The name of the application. It is made when there is none. */
  application: string;
  folders: { folderId: string; permission: "read" | "write" }[];
  /** Networks in CIDR notation that the machine may call from; empty for every address. */
  networks: string[];
  expiresAt: string | null;
  machineExpiresAt: string | null;
}

/** A one-time token. It is shown once. */
export interface MachineToken {
  token: string;
  expiresAt: string;
}

export interface MachinesCalls {
  applications(): ApplicationsView;
  application(id: string): ApplicationView;
  removeApplication(id: string): { view: ApplicationsView; rotate: ToRotate[] };
  revokeMachine(input: { applicationId: string; clientId: string }): {
    application: ApplicationView;
    rotate: ToRotate[];
  };
  /** `closed` is false when no folder's history that the person signs had its invitation open. */
  withdrawToken(input: { applicationId: string; id: string }): { application: ApplicationView; closed: boolean };
  createMachineToken(wish: TokenWish): MachineToken;
}

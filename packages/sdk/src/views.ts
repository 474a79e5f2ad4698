import type { MemberStatus, Permission, Role, SiemFormat } from "@coffer/contract";

/**
 * The responses of the service, with the names of the interface. Only the fields that this package
 * reads.
 */

export interface FolderView {
  id: string;
  name: string;
  /** Null for an auditor, who sees that a folder exists and cannot open it. */
  permission: Permission | null;
  key_version: number;
  /** Null when the folder's key was not sealed to the caller yet. */
  encrypted_key: string | null;
  encrypted_key_alg: string | null;
  /**
   * The newest entry of the folder's history; null where there is none. Absent from older services.
   */
  history_seq?: number | null;
}

export interface SecretView {
  uid: string;
  folder_id: string;
  title_encrypted: string;
  data_encrypted: string;
  wrapped_dek: string;
  record_type: string;
  /** The searchable title; empty when its writer gave none. */
  title: string;
  field_names: string[];
  key_version: number;
  /** The newest entry of the folder's history. */
  history_seq?: number | null;
  version: number;
  created_at: string;
  updated_at: string;
  /** From this moment on machines do not have it; null for never. Absent from older services. */
  expires_at?: string | null;
  /** Whether that moment has passed. Only for people. */
  expired?: boolean;
}

export interface WriteView {
  uid: string;
  folder_id: string;
  record_type: string;
  created_at: string;
  updated_at: string;
  /** Null for never. Absent from older services. */
  expires_at?: string | null;
}

export interface NotationView {
  uid: string;
  folder: string;
  folder_id: string;
  title: string;
  field: string;
  title_encrypted?: string;
  value_encrypted: string;
  key_version: number;
  updated_at: string;
}

export interface ClientView {
  client_id: string;
  application_id: string;
  org_id: string;
  name: string;
  expires_at: string | null;
  folders: { id: string; name: string; permission: Permission }[];
}

export interface UserView {
  id: string;
  email: string;
  name: string | null;
  created_at: string;
}

export interface AccountView {
  user: UserView;
  totp_enabled: boolean;
  organizations: { id: string; name: string; role: string; status: string }[];
}

export interface ApplicationView {
  id: string;
  name: string;
  description: string | null;
  created_at: string;
}

export interface MachineView {
  client_id: string;
  name: string;
  status: "active" | "revoked" | "expired";
  public_key: string;
  created_at: string;
  last_used_at: string | null;
  last_ip: string | null;
  expires_at: string | null;
  folders: { id: string; name?: string; permission: Permission }[];
}

export interface TokenView {
  id: string;
  application_id: string;
  name: string;
  status: "unused" | "used" | "expired" | "revoked";
  expires_at: string;
  /** Hex SHA-256 of the token; null for one that the service made. */
  tag?: string | null;
}

export interface OrganizationView {
  id: string;
  name: string;
  plan: string;
  created_at: string;
  history_seq?: number | null;
}

/** A member or machine with a folder's key. */
export interface HolderView {
  kind: "user" | "client";
  id: string;
  name: string;
  permission: Permission;
  public_key: string;
  /** Whether the current key was sealed to it. */
  has_key?: boolean;
}

export interface FolderMemberView {
  user_id: string;
  permission: Permission;
  key_version: number;
  added_at: string;
}

/** A machine's grant on a folder. */
export interface ClientGrantView {
  client_id: string;
  folder_id: string;
  permission: Permission;
  key_version: number;
  added_at: string;
}

export interface MemberView {
  user_id: string;
  name: string;
  email: string;
  role: Role;
  status: MemberStatus;
  joined_at: string;
}

export interface InviteView {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string;
  /** Hex SHA-256 of the invitation; null for one that the service made. */
  tag?: string | null;
}

/** A person's travel mode, and when it last changed. */
export interface TravelModeView {
  enabled: boolean;
  updated_at: string;
}

export interface SessionListItem {
  id: string;
  device: { id: string; name: string; type: string };
  created_at: string;
  last_used_at: string;
  ip: string | null;
  current: boolean;
}

/** The response of a refresh. Times are in seconds from now. */
export interface TokensView {
  access_token: string;
  expires_in: number;
  refresh_token: string;
  refresh_expires_in: number;
}

/** The response of a registration or login. */
export interface LoginView extends TokensView {
  session_id: string;
  user: UserView;
  encrypted_user_key: string;
  public_key: string;
  encrypted_private_key: string;
  /** Absent in the response to a change of the password. */
  device_credential?: string | undefined;
}

/** The destination of an organization's audit records. Its credentials are never shown. */
export interface SiemWebhookView {
  id: string;
  name: string | null;
  format: SiemFormat;
  url: string;
  enabled: boolean;
  created_at: string;
  updated_at: string;
  /** Null before the first delivery. `status` is the HTTP status; null without a response. */
  last_delivery: { status: number | null; at: string; error: string | null } | null;
}

/** An endpoint's response to a test event. */
export interface SiemTestView {
  ok: boolean;
  status: number | null;
  error: string | null;
}

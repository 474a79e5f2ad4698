import { readFileSync } from "node:fs";

/** The privileges of a process, by the kernel. */
export interface Privileges {
  /** Real, effective, saved and file-system user. */
  uids: number[];
  gids: number[];
  groups: string;
  effective: bigint;
  permitted: bigint;
  inheritable: bigint;
  ambient: bigint;
  bounding: bigint;
  noNewPrivileges: boolean;
}

/** Reads /proc/<pid>/status. */
export function privilegesOf(pid: number): Privileges {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(text)?.[1]?.trim() ?? "";
  const capabilities = (name: string): bigint => BigInt(`0x${field(name)}`);
  return {
    uids: field("Uid").split(/\s+/).map(Number),
    gids: field("Gid").split(/\s+/).map(Number),
    groups: field("Groups"),
    effective: capabilities("CapEff"),
    permitted: capabilities("CapPrm"),
    inheritable: capabilities("CapInh"),
    ambient: capabilities("CapAmb"),
    bounding: capabilities("CapBnd"),
    noNewPrivileges: field("NoNewPrivs") === "1",
  };
}

/** The privileges of a store that root has started. */
export function unprivileged({ uid, gid }: { uid: number; gid: number }): Privileges {
  return {
    uids: [uid, uid, uid, uid],
    gids: [gid, gid, gid, gid],
    groups: "",
    effective: 0n,
    permitted: 0n,
    inheritable: 0n,
    ambient: 0n,
    bounding: 0n,
    noNewPrivileges: true,
  };
}

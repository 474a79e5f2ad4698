import type { Permission } from "@coffer/contract";

/** The actions of honest people and machines, for the oracle's decisions. */
export interface Truth {
  /** A value that an honest writer gave a field. */
  value(place: string, title: string, field: string, value: string): void;
  isValue(place: string, title: string, field: string, value: string): boolean;
  /** A name that an honest manager gave a folder or vault. */
  name(res: string, name: string): void;
  isName(res: string, name: string): boolean;
  /** The key pair of an honest person or machine, also of those who work with the operator. */
  principal(who: string, publicKey: string, privateKey: Uint8Array): void;
  keysOf(who: string): ReadonlySet<string>;
  /** All private keys, by public key. */
  readonly privateKeys: ReadonlyMap<string, Uint8Array>;
  /** The permissions from honest managers. */
  grant(res: string, who: string, permission: Permission): void;
  grantsOf(res: string, who: string): ReadonlySet<Permission>;
  /** `<res>|<public key>` of holders who work with the operator and may have the key. */
  readonly colluding: Set<string>;
  /** Text that never goes to the server in the clear. */
  secret(text: string): void;
  readonly secrets: ReadonlySet<string>;
}

export function newTruth(): Truth {
  const values = new Set<string>();
  const names = new Map<string, Set<string>>();
  const keys = new Map<string, Set<string>>();
  const grants = new Map<string, Set<Permission>>();
  const privateKeys = new Map<string, Uint8Array>();
  const secrets = new Set<string>();
  return {
    value(...parts) {
      values.add(JSON.stringify(parts));
      secrets.add(parts[3]);
    },
    isValue: (...parts) => values.has(JSON.stringify(parts)),
    name: (res, name) => void inSet(names, res).add(name),
    isName: (res, name) => inSet(names, res).has(name),
    principal(who, publicKey, privateKey) {
      inSet(keys, who).add(publicKey);
      privateKeys.set(publicKey, privateKey);
    },
    keysOf: (who) => inSet(keys, who),
    privateKeys,
    grant: (res, who, permission) => void inSet(grants, `${res}|${who}`).add(permission),
    grantsOf: (res, who) => inSet(grants, `${res}|${who}`),
    colluding: new Set(),
    secret: (text) => void secrets.add(text),
    secrets,
  };
}

function inSet<Item>(map: Map<string, Set<Item>>, name: string): Set<Item> {
  const set = map.get(name) ?? new Set<Item>();
  map.set(name, set);
  return set;
}

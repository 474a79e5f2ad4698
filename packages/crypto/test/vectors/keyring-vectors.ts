import { begin, ada, boxed, folder, grow, org, vault } from "./history-chain.ts";
import { bytes, flip, uuid } from "./material.ts";
import type { KeyringVector, VectorFile } from "./shapes.ts";

const userKey = bytes("user key", 32);
const nonce = bytes("keyring/nonce", 12);

interface Place {
  what: KeyringVector["what"];
  id: string;
  version: number;
}

const ofPerson: Place = { what: "keyring", id: ada.who.slice("user:".length), version: 3 };
const ofVault: Place = { what: "vaultPin", id: vault.slice("vault:".length), version: 2 };

function contextOf({ what, id, version }: Place): string {
  return `coffer/v1/${what === "keyring" ? "keyring" : "vault-pin"}/${id}/${version}`;
}

function opens(name: string, place: Place, content: NonNullable<KeyringVector["content"]>): KeyringVector {
  const context = contextOf(place);
  const sealed = boxed(userKey, nonce, Buffer.from(JSON.stringify(content)), context);
  const given = { name, error: null, ...place, user_key: userKey.toString("hex"), context, sealed };
  return { ...given, nonce: nonce.toString("hex"), content };
}

function refused(name: string, of: KeyringVector, change: Partial<KeyringVector>): KeyringVector {
  const { what, id, version } = { ...of, ...change };
  const context = contextOf({ what, id, version });
  return { ...of, error: "decryption_failed", nonce: null, content: null, context, ...change, name };
}

/** Keyrings of people and pins of vaults, and values that must not open as one. */
export function keyringVectors(): VectorFile<KeyringVector> {
  const members = begin(org, ada);
  const folders = grow(begin(folder, ada), folder, ada, { name: "a" });
  const pinOf = ({ state: { head } }: typeof members): [number, string] => [head.seq, head.hash];
  const empty = opens("an empty keyring", { ...ofPerson, version: 1 }, { pins: {}, accepted: [] });
  const pins = { [org]: pinOf(members), [folder]: pinOf(folders) };
  const full = opens("an organization, and a folder that was accepted", ofPerson, { pins, accepted: [folder] });
  const vaultPins = { [vault]: pinOf(begin(vault, ada)) };
  const pin = opens("the pin of a vault that was accepted", ofVault, { pins: vaultPins, accepted: [vault] });
  return {
    about: "Keyrings and pins of vaults: a box under the user key, whose content is JSON {pins, accepted}",
    vectors: [
      empty,
      full,
      opens("a folder that was not accepted", ofPerson, { pins, accepted: [] }),
      pin,
      opens("the pin of a vault that was not accepted", ofVault, { pins: vaultPins, accepted: [] }),
      refused("a keyring as the version before", full, { version: 2 }),
      refused("a keyring as the next version", full, { version: 4 }),
      refused("the keyring of another person", full, { id: uuid("bob") }),
      refused("a keyring under another key", full, { user_key: flip(userKey, 0).toString("hex") }),
      refused("a keyring in the bare layout", full, {
        sealed: boxed(userKey, nonce, Buffer.from(JSON.stringify(full.content)), null),
      }),
      refused("a keyring as the pin of a vault", full, { what: "vaultPin" }),
      refused("a keyring with a line end after it", full, { sealed: `${full.sealed}\n`, error: "invalid_input" }),
      refused("the pin of another vault", pin, { id: uuid("another vault") }),
      refused("the pin of a vault as the next version", pin, { version: 3 }),
      refused("the pin of a vault as a keyring", pin, { what: "keyring" }),
    ],
  };
}

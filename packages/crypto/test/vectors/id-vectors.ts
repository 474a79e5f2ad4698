import { createHmac, hkdfSync } from "node:crypto";
import { bytes, uuid } from "./material.ts";
import type { SecretUidVector, StableIdVector, VectorFile } from "./shapes.ts";

function stableId(key: Buffer, text: string): string {
  const secret = Buffer.from(hkdfSync("sha256", key, "", "coffer/v1/stable-id", 32));
  const id = createHmac("sha256", secret).update(text).digest().subarray(0, 16);
  id[6] = 0x80 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  const hex = id.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Ids of imported records: one text under one key has one id. */
export function stableIdVectors(): VectorFile<StableIdVector> {
  const key = bytes("vault key", 32);
  const texts = ["", "database", "Zugang für Jürgen 🔑", "u\u0308"];
  const made = texts.map((text) => ({
    name: JSON.stringify(text),
    error: null,
    key: key.toString("hex"),
    text,
    id: stableId(key, text),
  }));
  const half = { name: "half of a surrogate pair", key: key.toString("hex"), text: "\ud800", id: null };
  const short = { name: "a key of 31 bytes", key: key.subarray(1).toString("hex"), text: "database", id: null };
  return {
    about: "Stable ids: UUIDv8 of HMAC-SHA-256 under a key derived by HKDF",
    vectors: [...made, { ...half, error: "invalid_input" }, { ...short, error: "invalid_key" }],
  };
}

function candidate(key: Buffer, folderId: string, title: string, turn: number): string {
  const text = `coffer/v1/uid/${folderId}/${turn}/${title}`;
  return createHmac("sha256", key).update(text).digest().subarray(0, 16).toString("base64url");
}

/** The uid of a new secret by its title, as `coffer set` makes it. */
export function secretUidVectors(): VectorFile<SecretUidVector> {
  const key = bytes("folder key", 32);
  const folder = uuid("folder");
  const vector = (name: string, title: string, taken: string[] = []): SecretUidVector => {
    let turn = 0;
    let uid = candidate(key, folder, title, turn);
    while (uid.startsWith("-") || taken.includes(uid)) uid = candidate(key, folder, title, (turn += 1));
    return { name, error: null, folder_key: key.toString("hex"), folder_id: folder, title, taken, uid, turn };
  };
  const hyphen = Array.from({ length: 1000 }, (_, n) => `title ${n}`).find((title) =>
    candidate(key, folder, title, 0).startsWith("-"),
  );
  return {
    about: "The uid of a new secret by its title: HMAC-SHA-256 under the folder key, first 16 bytes as base64url",
    vectors: [
      vector("a title", "database"),
      vector("a title outside ASCII", "Zugang für Jürgen 🔑"),
      vector("a title with a slash", "a/b"),
      vector("a uid that is taken gives way to the next", "database", [candidate(key, folder, "database", 0)]),
      vector("a uid that would begin with - gives way to the next", hyphen ?? ""),
    ],
  };
}

import { createCipheriv } from "node:crypto";
import { bytes, flip, uid, uuid } from "./material.ts";
import type { BoxVector, VectorFile } from "./shapes.ts";

const key = bytes("box/key", 32);
const nonce = bytes("box/nonce", 12);
const secret = uid("secret");
const data = `coffer/v1/data/${secret}`;
const text = Buffer.from('{"name":"database","fields":{"password":"s3cret"}}');

function sealed(iv: Buffer, plaintext: Buffer, context: string | null): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  if (context !== null) cipher.setAAD(Buffer.from(context));
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function version1(plaintext: Buffer, context: string, iv = nonce): Buffer {
  return Buffer.concat([Buffer.of(1), sealed(iv, plaintext, context)]);
}

function opens(name: string, context: string, plaintext: Buffer, iv = nonce): BoxVector {
  const box = version1(plaintext, context, iv).toString("base64");
  const given = { name, error: null, key: key.toString("hex"), context, box };
  return { ...given, nonce: iv.toString("hex"), plaintext: plaintext.toString("hex"), bound: true };
}

function bare(name: string, iv: Buffer): BoxVector {
  const box = sealed(iv, text, null).toString("base64");
  const given = { name, error: null, key: key.toString("hex"), context: data, box };
  return { ...given, nonce: null, plaintext: text.toString("hex"), bound: false };
}

function refused(name: string, box: Buffer | string, change: Partial<BoxVector> = {}): BoxVector {
  const written = typeof box === "string" ? box : box.toString("base64");
  const given = { name, key: key.toString("hex"), context: data, box: written, nonce: null, plaintext: null };
  return { ...given, error: "decryption_failed", bound: true, ...change };
}

/** Sets one of the bits that the last character has too many. */
function overhanging(base64: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return base64.replace(/(.)(=+)$/, (_, last: string, padding: string) => {
    return (alphabet[alphabet.indexOf(last) + 1] ?? "") + padding;
  });
}

/** Boxes made by Node's own AES-GCM, and everything that must not open. */
export function boxVectors(): VectorFile<BoxVector> {
  const good = version1(text, data);
  const goodText = good.toString("base64");
  const shortest = version1(Buffer.alloc(0), data).toString("base64");
  const slashes = version1(text, data, Buffer.alloc(12, 0xff)).toString("base64");
  const vault = uuid("vault");
  const boundContexts = [
    `coffer/v1/dek/${secret}`,
    `coffer/v1/fk/${uuid("folder")}`,
    `coffer/v1/folder-key/${uuid("folder")}`,
    `coffer/v1/vault-key/${vault}`,
    `coffer/v1/own-vault-key/${vault}`,
    "coffer/v1/private-key",
    "coffer/v1/user-key",
    `coffer/v1/join/folder:${uuid("folder")}/0/null`,
    `coffer/v1/keyring/${uuid("user")}/1`,
    `coffer/v1/vault-pin/${vault}/1`,
  ];
  return {
    about: "Box v1: base64(0x01 ‖ nonce ‖ AES-256-GCM ciphertext ‖ tag), additional data = the context in UTF-8",
    vectors: [
      opens("the payload of a secret", data, text),
      opens("an empty plaintext", data, Buffer.alloc(0)),
      opens("one byte", data, Buffer.of(0)),
      opens("1 KiB", data, bytes("box/1 KiB", 1024)),
      opens("a data-encryption key", `coffer/v1/dek/${secret}`, bytes("dek", 32)),
      opens("a title outside ASCII", `coffer/v1/title/${secret}`, Buffer.from("Zugang für Jürgen 🔑")),
      opens("a field", `coffer/v1/field/${secret}/password`, Buffer.from("s3cret")),
      opens("a field whose name is outside ASCII", `coffer/v1/field/${secret}/clé/été`, Buffer.from("s3cret")),
      opens("a folder key for a one-time token", `coffer/v1/fk/${uuid("folder")}`, bytes("folder key", 32)),
      opens("a folder key for its creator", `coffer/v1/folder-key/${uuid("folder")}`, bytes("folder key", 32)),
      opens("a vault key for its creator", `coffer/v1/vault-key/${vault}`, bytes("vault key", 32)),
      opens("the key of a personal vault", `coffer/v1/own-vault-key/${vault}`, bytes("vault key", 32)),
      opens("a record", `coffer/v1/record/${vault}/${uuid("record")}`, Buffer.from('{"username":"ada"}')),
      opens("a private key", "coffer/v1/private-key", bytes("pkcs8", 138)),
      opens("a user key", "coffer/v1/user-key", bytes("user key", 32)),
      bare("the bare layout of a client that knows the specification alone", nonce),
      bare("the bare layout when its nonce begins with 0x01", Buffer.concat([Buffer.of(1), nonce.subarray(1)])),
      ...boundContexts.map((context) =>
        refused(`the bare layout where none is taken: ${context}`, sealed(nonce, bytes("dek", 32), null), { context }),
      ),
      refused("a personal vault's key as a shared vault's", version1(text, `coffer/v1/own-vault-key/${vault}`), {
        context: `coffer/v1/vault-key/${vault}`,
      }),
      refused("another key", good, { key: flip(key, 0).toString("hex") }),
      refused("the context of another secret", good, { context: `coffer/v1/data/${uid("another")}` }),
      refused("the context of another kind", good, { context: `coffer/v1/dek/${secret}` }),
      refused("a field moved to another name", version1(text, `coffer/v1/field/${secret}/user`), {
        context: `coffer/v1/field/${secret}/password`,
      }),
      refused("a record moved to another vault", version1(text, `coffer/v1/record/${vault}/${uuid("record")}`), {
        context: `coffer/v1/record/${uuid("another vault")}/${uuid("record")}`,
      }),
      refused("a changed tag", flip(good, -1)),
      refused("a changed ciphertext", flip(good, 13)),
      refused("a changed nonce", flip(good, 1)),
      refused("another version byte", Buffer.concat([Buffer.of(2), good.subarray(1)])),
      refused("a bound ciphertext passed off as a bare one", good.subarray(1)),
      refused("the tag cut off", good.subarray(0, -16)),
      refused("one byte cut off", good.subarray(0, -1)),
      refused("one byte too many", Buffer.concat([good, Buffer.of(0)])),
      refused("one byte less than the shortest box", version1(Buffer.alloc(0), data).subarray(0, -1)),
      refused("nothing", ""),
      refused("only the version", Buffer.of(1)),
      refused("a key of 31 bytes", good, { error: "invalid_key", key: key.subarray(1).toString("hex") }),
      refused("a key of 16 bytes", good, { error: "invalid_key", key: key.subarray(16).toString("hex") }),
      refused("a key of 33 bytes", good, { error: "invalid_key", key: `${key.toString("hex")}00` }),
      refused("base64url", slashes.replaceAll("/", "_").replaceAll("+", "-"), { error: "invalid_input" }),
      refused("base64 without its padding", shortest.slice(0, -1), { error: "invalid_input" }),
      refused("base64 with a line end", `${goodText}\n`, { error: "invalid_input" }),
      refused("base64 with a space in it", `${goodText.slice(0, 8)} ${goodText.slice(8)}`, { error: "invalid_input" }),
      refused("base64 with set bits after its end", overhanging(shortest), { error: "invalid_input" }),
      refused("hexadecimal digits in place of base64", `${good.toString("hex")}!`, { error: "invalid_input" }),
    ],
  };
}

import type { Random } from "./random.ts";

/** An element of DER. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...header]), content]);
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function odd(random: Random, bytes: number): bigint {
  const value = random.bytes(bytes);
  value[0] = (value[0] ?? 0) | 0xc0;
  return BigInt(`0x${value.toString("hex")}`) | 1n;
}

/** A PKCS#1 key in form only: its primes are random odd numbers, so that it opens nothing. */
export function rsaExample(random: Random): Buffer {
  const [first, second] = [odd(random, 64), odd(random, 64)];
  const rest = [odd(random, 128), first, second, odd(random, 64), odd(random, 64), odd(random, 64)];
  return der(0x30, ...[0n, first * second, 65537n, ...rest].map(integer));
}

/** The key inside PKCS#8. */
export function pkcs8Example(random: Random): Buffer {
  const algorithm = der(0x30, der(0x06, Buffer.from("2a864886f70d010101", "hex")), der(0x05));
  return der(0x30, integer(0n), algorithm, der(0x04, rsaExample(random)));
}

export function encryptedPkcs8Example(random: Random, bytes: number): Buffer {
  const algorithm = der(
    0x30,
    der(0x06, Buffer.from("2a864886f70d01050d", "hex")),
    der(0x30, der(0x04, random.bytes(16))),
  );
  return der(0x30, algorithm, der(0x04, random.bytes(bytes)));
}

/** An OpenSSH key whose public part names this algorithm. */
export function opensshExample(random: Random, algorithm: string, bytes: number): Buffer {
  const text = (content: Uint8Array): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, content]);
  };
  const none = text(Buffer.from("none"));
  const publicKey = Buffer.concat([text(Buffer.from(algorithm)), text(random.bytes(65))]);
  const head = [Buffer.from("openssh-key-v1\0"), none, none, text(Buffer.alloc(0)), Buffer.from([0, 0, 0, 1])];
  return Buffer.concat([...head, text(publicKey), text(random.bytes(bytes))]);
}

/** A secret key packet of OpenPGP in form only. */
export function pgpExample(random: Random): Buffer {
  return Buffer.concat([Buffer.from([0x95, 0x02, 0x58, 0x04]), random.bytes(599)]);
}

export function ecExample(random: Random): Buffer {
  const curve = der(0xa0, der(0x06, Buffer.from("2a8648ce3d030107", "hex")));
  return der(0x30, integer(1n), der(0x04, random.bytes(32)), curve);
}

export function dsaExample(random: Random): Buffer {
  return der(
    0x30,
    ...[0n, odd(random, 128), odd(random, 20), odd(random, 128), odd(random, 128), odd(random, 20)].map(integer),
  );
}

/** A PEM block. */
export function pem(label: string, bytes: Uint8Array, lineBreak = "\n"): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join(lineBreak);
}

import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** A certificate and its private key, both PEM. */
export interface TestCertificate {
  cert: string;
  key: string;
}

export interface TestAuthority {
  /** The authority's own certificate, PEM: for `NODE_EXTRA_CA_CERTS`. */
  cert: string;
  /**
   * A server's certificate for these host names and IPv4 addresses; with `expired` one that ended
   * an hour ago.
   */
  issue(names: readonly string[], options?: { expired?: boolean }): TestCertificate;
}

const hourMilliseconds = 60 * 60 * 1_000;
const dayMilliseconds = 24 * hourMilliseconds;

/** A certificate authority of the test, valid from yesterday for a month. Needs no openssl. */
export function testAuthority(name = "Coffer test authority"): TestAuthority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authority = { name, key: own.privateKey };
  return {
    cert: certificate({ name, publicKey: own.publicKey, extensions: [isAuthority] }, authority),
    issue(names, { expired = false } = {}) {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const subject = { name: names[0] ?? "", publicKey, extensions: [namesOf(names)], expired };
      return {
        cert: certificate(subject, authority),
        key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

interface Subject {
  name: string;
  publicKey: KeyObject;
  extensions: readonly Buffer[];
  expired?: boolean;
}

/** RFC 5280: an X.509 certificate of version 3, signed with ECDSA and SHA-256. */
function certificate(
  { name, publicKey, extensions, expired = false }: Subject,
  issuer: { name: string; key: KeyObject },
): string {
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    nameOf(issuer.name),
    sequence(timeOf(-dayMilliseconds), timeOf(expired ? -hourMilliseconds : 30 * dayMilliseconds)),
    nameOf(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", body, issuer.key)]));
  return new X509Certificate(sequence(body, algorithm, signature)).toString();
}

const isAuthority = sequence(
  oid("551d13"),
  der(0x01, Buffer.of(0xff)),
  der(0x04, sequence(der(0x01, Buffer.of(0xff)))),
);

/** The extension subjectAltName. */
function namesOf(names: readonly string[]): Buffer {
  const each = names.map((name) =>
    isIP(name) === 4 ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name)),
  );
  return sequence(oid("551d11"), der(0x04, sequence(...each)));
}

function nameOf(text: string): Buffer {
  return sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(text)))));
}

function timeOf(aheadMilliseconds: number): Buffer {
  const text = new Date(Date.now() + aheadMilliseconds)
    .toISOString()
    .slice(2)
    .replaceAll(/[-:T]|\.\d+/g, "");
  return der(0x17, Buffer.from(text));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

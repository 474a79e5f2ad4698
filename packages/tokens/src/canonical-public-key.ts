import { createPublicKey } from "node:crypto";
import { ServiceError } from "@coffer/errors";

/** The DER of SubjectPublicKeyInfo for id-ecPublicKey with prime256v1, up to the 65-byte point (RFC 5480). */
const spkiPrefix = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
const pointBytes = 65;
const uncompressed = 0x04;

/**
 * A P-256 public key in its canonical form.
 * @param base64 base64 (RFC 4648 §4, padded) of the 91-byte SPKI DER or of the 65-byte uncompressed point
 * @returns `spki`: base64 of the SPKI DER
 * @throws ServiceError `invalid_request` for any other form (compressed, explicit parameters,
 *   trailing bytes), another curve, or a point that is not on the curve
 */
export function canonicalPublicKey(base64: string): { spki: string } {
  const given = Buffer.from(base64, "base64");
  // Node ignores invalid characters: compares with Node's own encoding of the bytes.
  if (given.toString("base64") !== base64) throw refused();
  const point = given.length === pointBytes ? given : given.subarray(spkiPrefix.length);
  if (point.length !== pointBytes || point[0] !== uncompressed) throw refused();
  const spki = Buffer.concat([spkiPrefix, point]);
  if (given.length !== pointBytes && !given.equals(spki)) throw refused();
  if (!isOnCurve(spki)) throw refused();
  return { spki: spki.toString("base64") };
}

/** OpenSSL checks the curve's equation when it imports a point. */
function isOnCurve(spki: Buffer): boolean {
  try {
    const key = createPublicKey({ key: spki, format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
}

function refused(): ServiceError {
  return new ServiceError(
    "invalid_request",
    "public_key must be base64 of an ECDSA P-256 public key: SPKI DER (91 bytes) or the uncompressed point (65 bytes)",
    { details: [{ field: "public_key", issue: "not a P-256 public key in SPKI DER or as an uncompressed point" }] },
  );
}

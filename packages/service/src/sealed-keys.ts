import { base64Text, compactJwe } from "@coffer/http";

// Limits of a key of 32 bytes in the two forms that our clients store, with room for other clients.

/** A key sealed to a public key. A JWE of @coffer/crypto has about 600 characters. */
export const sealedKeyText = compactJwe(4);

/** A key encrypted with another key. A box of @coffer/crypto has 84 characters. */
export const boxedKeyText = base64Text(4);

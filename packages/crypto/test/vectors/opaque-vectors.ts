import { hkdfSync } from "node:crypto";
import type { OpaqueVector, VectorFile } from "./shapes.ts";

/** Made once: each run of the protocol is random, but one password and one record always give one export key. */
const serverSetup =
  "hEUnbXtj50iLim10LXbwJo-9iJgFS0QSejWP3BE4m18DF8ymq_5PwABgWDYmp7lda3h1987BAAriWd3tz4vIzgKVp5On_nUH3pUoqrVZR7quvjsoK3-T4IGUfI70zuUPEokodP2uRYJAtnuTC5M_f85xd_Ruq5z_ym86ugHq-TU";
const record =
  "2INAiTSMzfY0YoUdsZp623qja7EQ14vrxnQbCePiUFJ0sAvvtgfH3wYsT2yWz9kWnRFQmMvpmFO7Mz1qwvecGr_laJ1qijuaDm03KJJXyLZ09Xz6MbyAgOb49s94YQosaBP4mR0f3AhPOjwGiBC4xQ2cj01gCjVxsk3vVkgHCMMdCtZOo1duWs3Aj8wHYgvAIDtXPoZvhLJlu9RUW2S4OSVZsPHcmQwAiKQUDNpj89HW1FXhaUPJQMukf_BvIon8";
/** The same password, registered with Argon2id of one pass over 8 KiB. */
const weakRecord =
  "XB-pkGadPE7CM4eenmPIsQXSc0VeOdAj7KqfRU8KlWf5KNUm5lsvcoMwcYbECTN97MaITTt2Bj5iX8aBTIoZ97UoF_A4ev_c_5RGmiHYSn6uh281-2zC92g2x7jyQVvaNbtkpnv64dXGI0ansOJRp4D4cT6SyoJYF477kiXZBghhGlsrhNYtSRo-T2gtgt63LtRXIublcMwrqzEFxN2BpdJwr1XherY7i_f5Z3PeEIwoK1ibEuX-7dL7G4-ZTnNn";
const exportKey = "E42B69V9mbY6Z901AXcwFDmLk73YoEa0Jy6Fim4j1z2Fcx9fbn0UCjkCBkG-xPwJufXEP2TEk84GQ7octvCGFQ";
const password = "correct horse battery staple 🐎";

function refused(name: string, change: Partial<OpaqueVector>): OpaqueVector {
  return { ...login(name), error: "login_failed", export_key: null, user_key_seal_key: null, ...change };
}

function login(name: string): OpaqueVector {
  const sealKey = Buffer.from(hkdfSync("sha256", Buffer.from(exportKey, "base64url"), "", "coffer/v1/user-key", 32));
  return {
    name,
    error: null,
    server_setup: serverSetup,
    user_identifier: "ada@example.com",
    registration_record: record,
    password,
    export_key: exportKey,
    user_key_seal_key: sealKey.toString("hex"),
  };
}

/** Logins against a server half with this setup and this record. */
export function opaqueVectors(): VectorFile<OpaqueVector> {
  return {
    about:
      "OPAQUE logins (RFC 9807; Argon2id with 3 passes, 64 MiB, 4 lanes): from password and record to the export key",
    vectors: [
      login("the password of the record"),
      refused("another password", { password: `${password} ` }),
      refused("a record of another account", { user_identifier: "eve@example.com" }),
      refused("a record that was made with weaker stretching", { registration_record: weakRecord }),
    ],
  };
}

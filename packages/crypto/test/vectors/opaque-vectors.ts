import { hkdfSync } from "node:crypto";
import type { OpaqueVector, VectorFile } from "./shapes.ts";

/** Made once: each run of the protocol is random, but gives one export key. */
const serverSetup =
  "hEUnbXtj50iLim10LXbwJo-9iJgFS0QSejWP3BE4m18DF8ymq_5PwABgWDYmp7lda3h1987BAAriWd3tz4vIzgKVp5On_nUH3pUoqrVZR7quvjsoK3-T4IGUfI70zuUPEokodP2uRYJAtnuTC5M_f85xd_Ruq5z_ym86ugHq-TU";
const record =
  "2INAiTSMzfY0YoUdsZp623qja7EQ14vrxnQbCePiUFJ0sAvvtgfH3wYsT2yWz9kWnRFQmMvpmFO7Mz1qwvecGr_laJ1qijuaDm03KJJXyLZ09Xz6MbyAgOb49s94YQosaBP4mR0f3AhPOjwGiBC4xQ2cj01gCjVxsk3vVkgHCMMdCtZOo1duWs3Aj8wHYgvAIDtXPoZvhLJlu9RUW2S4OSVZsPHcmQwAiKQUDNpj89HW1FXhaUPJQMukf_BvIon8";
/** The same password, registered with Argon2id of one pass over 8 KiB. */
const weakRecord =
  "XB-pkGadPE7CM4eenmPIsQXSc0VeOdAj7KqfRU8KlWf5KNUm5lsvcoMwcYbECTN97MaITTt2Bj5iX8aBTIoZ97UoF_A4ev_c_5RGmiHYSn6uh281-2zC92g2x7jyQVvaNbtkpnv64dXGI0ansOJRp4D4cT6SyoJYF477kiXZBghhGlsrhNYtSRo-T2gtgt63LtRXIublcMwrqzEFxN2BpdJwr1XherY7i_f5Z3PeEIwoK1ibEuX-7dL7G4-ZTnNn";
const exportKey = "E42B69V9mbY6Z901AXcwFDmLk73YoEa0Jy6Fim4j1z2Fcx9fbn0UCjkCBkG-xPwJufXEP2TEk84GQ7octvCGFQ";
const password = "correct horse battery staple 🐎";

/** A password with decomposed letters ("ä" has two code points): a recorded registration and login. */
const decomposed = "pa\u0308ssword";
const registration = {
  client_state: "qAu4zxbkuTKqhGn6TLFUF7Bvy_nIspdeBF6ktIUAxwXYaxF0LGrLHSJPucy-Oo2ehCZNoXW-Emom45RpmL1AaA",
  registration_request: "2GsRdCxqyx0iT7nMvjqNnoQmTaF1vhJqJuOUaZi9QGg",
  registration_response: "VNB93-ZuE2498d0TI4teHTMHcZnhjxwyZtm-Y_tTRmJCe7n9e0SSAr6qLYlLFIuc7-Q0FlB5tpwWiQCp2bngTQ",
  registration_record:
    "fEFsSGVUJmyVEpVYnS0sd8oxPIoz1qetJEFQLqaiNBAbh-cX85txsOJp8QuWLhOcpbjZDPypibA-MjfuE0VRuwY4Y9SJXFII2JjN6sBi9xQmd1S6a58puFDPmsGnfYTruaUOYM91cm5qRQvvZUFPEjFyGkCk6RFWAfe1aRX5dh2ktn2Hlgy1aQPs93D1aQm_7y3z8_qL_mzxnlLcfx8Ibot39ayc060yADqAkggcthF3ybsJwTRO7u4Qf0LNy-2t",
};
const messages = {
  client_state:
    "Hx-FqhionxqL_Tq2gMPe6mA0t0cKvzOHp9dIPyMC3gmy24ZJxcjsGqLdfjC7zq7uTXktP925yyTKY12SPiSTMBI3951iqd-jbIQh-i4Q1uCqOSDYLG0mClzWYUbAxr0wPGVLxEdKbmctqxul2tFgYLNtBiFU64dJkQIxQuarhQzzxPopP8LcPdkEEEv7RmCuCDzgwLh39T8l2G_tCBAyCRI3951iqd-jbIQh-i4Q1uCqOSDYLG0mClzWYUbAxr0w",
  ke1: "stuGScXI7Bqi3X4wu86u7k15LT_ducskymNdkj4kkzASN_edYqnfo2yEIfouENbgqjkg2CxtJgpc1mFGwMa9MDxlS8RHSm5nLasbpdrRYGCzbQYhVOuHSZECMULmq4UM",
  ke2: "Nr7tPAeLwCyh7NMPe_ns7E5arIsBG4ltf6GuPkXx5HR54XmKLueIjXunxi7skP7u1qCLyZyKhCBn5iMmnS1l_6SlPGIS9_8iFHcDtJQcnZQuo1uKBlLKHKTpYr0Z6Ut02-ga_ydyXcyP399HVzXi22eaiPetHgz732C908KhuasuzZtzN_7rc8MDyChiMZPAheC63x8l1PB77wX2sGch4bZGQtFqIl6a2Sw9TfhFV1PzqKc9rf9_8nBd2zmqRej2rBwriuu75vlBbzsSCL14CacYP45orS0yPp7Vi7ATUFFsfFk5_0OdlDjKGd-yp2F9sDZqf27iWtN_romXEzVTRFVK44RcSYwRgivBmM6sBTikw8CJ9zC2egCmSYAzT9edEpqSO6wDRAcNKawqTReApRgzyJyIbKZRbIleIEb86ok",
  ke3: "aA0fzpAk4eQgv1aPytf5XwPoOYPDVMF47nhA34YGaJs4_yupgoAtlk9dq_IdMJkREJFfAmMoMrFKGJk2O0zphg",
  session_key: "7C3liFloamivbfifRL7sz7zQOzuS55nfg8d1byKmYEJgzW3gfbqZjKnHQKBIwWizcSwjYfRWTKK-G2xG4s56Gw",
};
const decomposedExportKey = "wrk1g95GfYWD-fclRW-uiV4Oj7KvS5C2ti0jmiw19YOA1-7zeLyEKGbIVfOsd-L-QkTJKyM20BuF8ONx2hPwnA";

function refused(name: string, change: Partial<OpaqueVector>): OpaqueVector {
  return { ...login(name), error: "login_failed", export_key: null, user_key_seal_key: null, ...change };
}

function sealKeyOf(key: string): string {
  return Buffer.from(hkdfSync("sha256", Buffer.from(key, "base64url"), "", "coffer/v1/user-key", 32)).toString("hex");
}

function login(name: string): OpaqueVector {
  return {
    name,
    error: null,
    server_setup: serverSetup,
    user_identifier: "ada@example.com",
    registration_record: record,
    password,
    export_key: exportKey,
    user_key_seal_key: sealKeyOf(exportKey),
    registration: null,
    messages: null,
  };
}

/** Logins against a server half with this setup and this record. */
export function opaqueVectors(): VectorFile<OpaqueVector> {
  return {
    about:
      "OPAQUE logins (RFC 9807; Argon2id with 3 passes, 64 MiB, 4 lanes): from password and record to the export key",
    vectors: [
      login("the password of the record"),
      {
        ...login("a password in decomposed form, with all messages"),
        registration_record: registration.registration_record,
        password: decomposed,
        export_key: decomposedExportKey,
        user_key_seal_key: sealKeyOf(decomposedExportKey),
        registration,
        messages,
      },
      refused("the composed form of that password", {
        registration_record: registration.registration_record,
        password: decomposed.normalize("NFC"),
      }),
      refused("another password", { password: `${password} ` }),
      refused("a password with half of a surrogate pair", { password: "\ud800", error: "invalid_input" }),
      refused("a record of another account", { user_identifier: "eve@example.com" }),
      refused("a record that was made with weaker stretching", { registration_record: weakRecord }),
    ],
  };
}

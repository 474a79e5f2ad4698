import { decodeBase64, decodeBase64Url, encodeText, signMachineToken } from "../../src/index.ts";
import type { Checked } from "./check.ts";
import type { MachineTokenFile } from "./shapes.ts";

/**
 * Checks the client's part of machine tokens: which signatures verify, and that the package signs a
 * token that a server accepts. Only servers check claims.
 */
export async function checkMachineTokens(file: MachineTokenFile): Promise<Checked[]> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const der = decodeBase64(file.public_key);
  const key = await crypto.subtle.importKey("spki", der, algorithm, false, ["verify"]);
  const isSigned = (token: string): Promise<boolean> => {
    const [header = "", claims = "", signature = ""] = token.split(".");
    const signed = encodeText(`${header}.${claims}`);
    return crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, decodeBase64Url(signature), signed);
  };

  const checked: Checked[] = [];
  for (const { name, token, refused } of file.vectors) {
    if (refused !== null && refused !== "signature") continue;
    const problem = (await isSigned(token)) === (refused === null) ? null : "the signature was verified differently";
    checked.push({ name, problem });
  }
  return [...checked, await checkSigning(file, isSigned)];
}

async function checkSigning(file: MachineTokenFile, isSigned: (token: string) => Promise<boolean>): Promise<Checked> {
  const [published] = file.vectors;
  const privateKey = decodeBase64(file.private_key);
  const machine = { clientId: file.client_id, privateKey, audience: file.audiences[0] ?? "" };
  const { token, expiresAt } = await signMachineToken(machine, new Date(file.now * 1000 + 999));
  const unsigned = (whole: string | undefined): string | undefined => whole?.slice(0, whole.lastIndexOf("."));
  const holds =
    unsigned(token) === unsigned(published?.token) && expiresAt === file.now + 300 && (await isSigned(token));
  return { name: "the package signs the first token", problem: holds ? null : `it signed ${token}` };
}

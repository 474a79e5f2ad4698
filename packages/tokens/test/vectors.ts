import { readFile } from "node:fs/promises";

interface MachineTokens {
  now: number;
  audiences: string[];
  client_id: string;
  public_key: string;
  vectors: { name: string; token: string; refused: string | null }[];
}

interface PublicKeys {
  vectors: { name: string; public_key: string; canonical: string | null }[];
}

async function read(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`../../../docs/spec/vectors/${name}`, import.meta.url), "utf8"));
}

/** The published machine tokens with their results. The file's README describes the shape. */
export async function machineTokens(): Promise<MachineTokens> {
  return (await read("machine-token.json")) as MachineTokens;
}

/** The published public keys in valid and invalid forms. The file's README describes the shape. */
export async function publicKeys(): Promise<PublicKeys> {
  return (await read("public-key.json")) as PublicKeys;
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Stores } from "./service.ts";

const program = fileURLToPath(new URL("../../src/rotate.ts", import.meta.url));

/** Runs the operator's command that replaces keys; its exit code and what it says. */
export async function runRotation(
  { postgres }: Pick<Stores, "postgres">,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env["PATH"], COFFER_POSTGRES_URL: postgres.url, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.err += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, ...said };
}

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Unpacked } from "./apt.ts";

const run = promisify(execFile);
const timeoutMilliseconds = 120_000;

/** A release of the NATS project, with the SHA-256 of its archives by platform. */
export interface NatsRelease {
  version: string;
  /** The address with a folder for each version. */
  address: string;
  sha256: Readonly<Partial<Record<string, string>>>;
}

/**
 * The checksums of the project's own image (nats-io/nats-docker, 2.10.x/alpine3.22/Dockerfile, commit
 * ef05cf93a7e7). For another version or platform, use the file SHA256SUMS of the release.
 */
export const natsRelease: NatsRelease = {
  version: "2.10.29",
  address: "https://github.com/nats-io/nats-server/releases/download",
  sha256: {
    "linux-amd64": "e314da74a83a1d3876db8814c27eb990fe729640fd6452025b441bcede8390da",
    "linux-arm64": "da4b27942ecfb4c5f0c54553d2e7f470ddda9d7581cfe8131b351a0e223ed401",
  },
};

/**
 * Downloads the release for this machine, compares its checksum and unpacks it to
 * `<cacheDirectory>/nats-server`. Writes and runs nothing of an archive with another checksum.
 */
export async function unpackRelease(
  release: NatsRelease,
  cacheDirectory: string,
  report: (line: string) => void,
  machine = `${platform()}-${arch() === "x64" ? "amd64" : arch()}`,
): Promise<Unpacked> {
  const expected = release.sha256[machine];
  if (expected === undefined) return { command: null, problem: `no pinned release of NATS for ${machine}` };
  const name = `nats-server-v${release.version}-${machine}`;
  const url = `${release.address}/v${release.version}/${name}.tar.gz`;
  mkdirSync(cacheDirectory, { recursive: true });
  const work = mkdtempSync(join(cacheDirectory, ".nats-release-"));
  try {
    report(`downloading ${url}`);
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMilliseconds) });
    if (!answer.ok) return { command: null, problem: `${url} answered ${answer.status}` };
    const archive = Buffer.from(await answer.arrayBuffer());
    const found = createHash("sha256").update(archive).digest("hex");
    if (found !== expected) return { command: null, problem: `${url} has the SHA-256 ${found}, not ${expected}` };
    const file = join(work, "archive.tar.gz");
    writeFileSync(file, archive);
    const root = join(work, "root/usr/bin");
    mkdirSync(root, { recursive: true });
    await run("tar", ["-xzf", file, "-C", root, "--strip-components=1", `${name}/nats-server`]);
    const target = join(cacheDirectory, "nats-server");
    if (!existsSync(target)) renameSync(join(work, "root"), target);
    return { command: [join(target, "usr/bin/nats-server")], problem: "" };
  } catch (error) {
    return { command: null, problem: `${url}: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

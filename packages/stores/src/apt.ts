import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onPath } from "./on-path.ts";

const run = promisify(execFile);

/** Packages besides those of the libraries: the file may be in a sister package. */
const packages: Record<string, string[]> = {
  "nats-server": ["nats-server"],
  "redis-server": ["redis-server", "redis-tools"],
  "valkey-server": ["valkey-server", "valkey-tools"],
  promtool: ["prometheus"],
  postgres: ["postgresql", "postgresql-client"],
};

/** Programs of the same packages that need other libraries. */
const sisters: Record<string, string[]> = { postgres: ["postgres", "psql"] };

/** Packages that are empty and name the packages of the present version. */
const metapackages: readonly string[] = ["postgresql", "postgresql-client"];

export type Unpacked = { command: string[]; problem: "" } | { command: null; problem: string };

/**
 * Downloads a server's package with apt, and those of missing libraries, and unpacks them to
 * `<cacheDirectory>/<program>`. Works without root and writes nowhere else: apt gets its own state
 * and cache.
 */
export async function unpackWithApt(
  program: string,
  cacheDirectory: string,
  report: (line: string) => void,
): Promise<Unpacked> {
  if (onPath("apt-get") === null || onPath("dpkg-deb") === null) return { command: null, problem: "no apt-get here" };
  mkdirSync(cacheDirectory, { recursive: true });
  const work = mkdtempSync(join(cacheDirectory, `.${program}-`));
  try {
    report(`downloading ${program} (the system's package, unpacked, not installed)`);
    const named = packages[program] ?? [program];
    const apt = await openApt(work, named, report);
    const wanted = (await Promise.all(named.map((name) => versionedPackages(apt, name)))).flat();
    const root = join(work, "root");
    await addPackages(apt, wanted, root);
    await addMissingLibraries(apt, { programs: sisters[program] ?? [program], owners: wanted, root });
    const target = join(cacheDirectory, program);
    try {
      renameSync(root, target);
    } catch (error) {
      // Another process was faster: its copy is equal.
      if (!existsSync(target)) throw error;
    }
    return { command: unpackedCommand(target, program), problem: "" };
  } catch (error) {
    return { command: null, problem: `apt-get: ${lastLine(error)}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The command line of a server that was unpacked to `folder`. */
export function unpackedCommand(folder: string, program: string): string[] {
  const places = ["usr/sbin", "usr/bin", ...versionedPlaces(folder)];
  const binary = places.map((place) => join(folder, place, program)).find((path) => existsSync(path));
  const libraries = libraryFolders(folder);
  const file = binary ?? join(folder, "usr/bin", program);
  return libraries.length === 0 ? [file] : ["/usr/bin/env", `LD_LIBRARY_PATH=${libraries.join(":")}`, file];
}

/** Debian keeps the programs of each version of Postgres in their own folder. */
function versionedPlaces(folder: string): string[] {
  const place = "usr/lib/postgresql";
  if (!existsSync(join(folder, place))) return [];
  return readdirSync(join(folder, place)).map((version) => join(place, version, "bin"));
}

interface Apt {
  work: string;
  options: string[];
  taken: Set<string>;
}

async function openApt(work: string, wanted: string[], report: (line: string) => void): Promise<Apt> {
  const configuration = join(work, "apt.conf");
  writeFileSync(
    configuration,
    [
      "#clear APT::Update::Pre-Invoke;",
      "#clear APT::Update::Post-Invoke;",
      "#clear APT::Update::Post-Invoke-Success;",
      'APT::Sandbox::User "root";',
      'Acquire::Languages "none";',
      `Dir::Cache "${work}/cache";`,
      "",
    ].join("\n"),
  );
  mkdirSync(join(work, "cache/archives/partial"), { recursive: true });
  const apt: Apt = { work, options: ["-q", "-c", configuration], taken: new Set() };
  try {
    await run("apt-get", [...apt.options, "download", "--print-uris", ...wanted], { cwd: work });
  } catch {
    await refreshLists(apt, report);
  }
  return apt;
}

/** Fetches the package lists to our own place and uses them from then on. */
async function refreshLists(apt: Apt, report: (line: string) => void): Promise<void> {
  const lists = join(apt.work, "lists");
  if (apt.options.some((option) => option.endsWith(lists))) return;
  report("reading the system's package lists");
  mkdirSync(join(lists, "partial"), { recursive: true });
  apt.options.push("-o", `Dir::State::Lists=${lists}`);
  await run("apt-get", [...apt.options, "update"], { cwd: apt.work, maxBuffer: 1 << 24 });
}

/** The packages that a metapackage names, or the package itself. */
async function versionedPackages(apt: Apt, name: string): Promise<string[]> {
  if (!metapackages.includes(name)) return [name];
  const { stdout } = await run("apt-cache", [...apt.options, "depends", "--important", name]);
  return [...stdout.matchAll(/Depends: (\S+-\d+)$/gm)].map(([, found = ""]) => found);
}

async function addPackages(apt: Apt, wanted: string[], root: string): Promise<void> {
  const names = wanted.filter((name) => !apt.taken.has(name));
  if (names.length === 0) return;
  const folder = mkdtempSync(join(apt.work, "packages-"));
  const download = (): Promise<unknown> => run("apt-get", [...apt.options, "download", ...names], { cwd: folder });
  await download().catch(async () => {
    // The lists name a version that the archive has removed.
    await refreshLists(apt, () => undefined);
    await download();
  });
  for (const file of readdirSync(folder)) await run("dpkg-deb", ["-x", join(folder, file), root]);
  for (const name of names) apt.taken.add(name);
}

/** Adds the packages of missing libraries, and of their dependencies. */
async function addMissingLibraries(
  apt: Apt,
  { programs, owners: first, root }: { programs: readonly string[]; owners: readonly string[]; root: string },
): Promise<void> {
  let owners = [...first];
  for (let depth = 0; depth < 4; depth += 1) {
    const files = programs.map((program) => unpackedCommand(root, program).at(-1) ?? "");
    const { stdout } = await run("ldd", files, {
      env: { ...process.env, LD_LIBRARY_PATH: libraryFolders(root).join(":") },
    }).catch(() => ({ stdout: "" })); // A static program: nothing to add.
    if (!stdout.includes("not found")) return;
    const { stdout: depends } = await run("apt-cache", [...apt.options, "depends", "--important", ...owners]);
    owners = [...depends.matchAll(/Depends: (lib[a-z0-9.+-]+)/g)]
      .map((match) => match[1] ?? "")
      .filter((name) => name !== "libc6" && name !== "libgcc-s1" && !apt.taken.has(name));
    await addPackages(apt, owners, root);
  }
}

function libraryFolders(root: string): string[] {
  return ["lib", "usr/lib"].flatMap((place) => {
    const folder = join(root, place);
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.includes("-linux-"))
      .map((entry) => join(folder, entry.name));
  });
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || message || String(error)).trim().split("\n").at(-1) ?? "";
}

import { access, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import chromium, { inflate } from "@sparticuz/chromium";

/** A browser to start, and the libraries that it needs where the system has none of them. */
export interface Browser {
  executablePath: string;
  libraryPath: string | undefined;
}

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const elsewhere = ["/usr/bin", "/Applications/Google Chrome.app/Contents/MacOS", "/opt/google/chrome"];
const cache = fileURLToPath(new URL("../../../../node_modules/.cache/coffer/", import.meta.url));

/**
 * Finds a Chromium: on Linux x64 that of the package `@sparticuz/chromium`, unpacked once below
 * node_modules/.cache; elsewhere an installed one.
 * @throws Error with one line when there is none
 */
export async function locateBrowser(): Promise<Browser> {
  if (process.platform === "linux" && process.arch === "x64") return unpack();
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), ...elsewhere];
  for (const directory of directories.filter((each) => each !== "")) {
    for (const name of [...names, "Google Chrome"]) {
      const executablePath = join(directory, name);
      if (await exists(executablePath)) return { executablePath, libraryPath: undefined };
    }
  }
  throw new Error("no browser found: install Chromium or Chrome so that it is on the PATH");
}

/** The package unpacks missing files into the temporary directory: it gets its own. */
async function unpack(): Promise<Browser> {
  const source = join(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "..");
  const manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as { version: string };
  const directory = join(cache, `chromium-${manifest.version}`);
  const browser = { executablePath: join(directory, "chromium"), libraryPath: join(directory, "al2023", "lib") };
  if (await exists(browser.executablePath)) return browser;
  await mkdir(cache, { recursive: true });
  const partial = await mkdtemp(join(cache, "unpacking-"));
  const temporary = process.env["TMPDIR"];
  process.env["TMPDIR"] = partial;
  try {
    await chromium.executablePath();
    await inflate(join(source, "bin", "al2023.tar.br"));
  } finally {
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
  }
  // Another run may have been faster: its copy is used.
  await rename(partial, directory).catch(() => rm(partial, { recursive: true }));
  return browser;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

import { existsSync, mkdirSync, readdirSync, rmSync, accessSync, constants } from "node:fs";
import { join } from "node:path";
import { manifestName } from "./manifest.ts";
import { root, sourcesHash } from "./sources.ts";

const builds = join(root, "packages/console/dist");

/** Where an image has its build, and where `npm run build -w packages/console` puts one. */
export const releaseFolder = join(builds, "release");

/**
 * The folder of a build of the present sources. Builds them if there is none yet, below the checkout, or
 * below `elsewhere` where the checkout cannot be written. Builds of older sources are removed.
 */
export async function currentBuild(elsewhere: string, report: (line: string) => void): Promise<string> {
  const name = sourcesHash().slice(0, 16);
  const found = [builds, elsewhere]
    .map((each) => join(each, name))
    .find((each) => existsSync(join(each, manifestName)));
  if (found !== undefined) return found;
  const parent = isWritable(builds) ? builds : elsewhere;
  report("building the console");
  const { buildConsole } = await import("./build.ts");
  await buildConsole(join(parent, name));
  for (const each of readdirSync(parent))
    if (/^[0-9a-f]{16}$/.test(each) && each !== name) rmSync(join(parent, each), { recursive: true, force: true });
  return join(parent, name);
}

function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

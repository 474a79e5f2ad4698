import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { getAsset, isSea } from "node:sea";
import type { AddressOptions, Call } from "../command-row.ts";
import { type Answer, get, NoAnswer } from "../doctor/request.ts";
import { exitCodes, Failure, usage } from "../failure.ts";
import { print, printJson, printTable, visible } from "../output/output.ts";
import { profileDirectory } from "../profile/paths.ts";
import { readProfile } from "../profile/profile.ts";
import { resolveAddress } from "../service/address.ts";

interface Options extends AddressOptions {
  manifest?: string;
  json?: boolean;
}

/** One file of a console, as its manifest describes it (docs/console.md). */
interface ExpectedFile {
  path: string;
  kind: string;
  headers: Record<string, string>;
  /** Lower-case hex SHA-256 of the file. */
  sha256: { identity: string };
}

interface Manifest {
  pages: string[];
  files: ExpectedFile[];
}

/** A path, and how its answer differs from the manifest; null when it does not. */
interface Finding {
  path: string;
  problem: string | null;
}

/** The asset of an executable, and the file of the package, with the manifest of the release's console. */
const carriedManifest = "console-manifest.json";

/** In a checkout the build of `npm run build -w packages/console`. */
const manifestPlaces = [`../${carriedManifest}`, "../../../console/dist/release/manifest.json"];

/** As a browser asks: a service that shows the command other code than browsers must at least look for it. */
const browserHeaders = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-language": "en-US,en;q=0.9",
};

/** Headers with which an answer could load or store more than its manifest says. */
const forbiddenHeaders = [
  ...["access-control-allow-origin", "link", "refresh", "service-worker-allowed", "set-cookie", "sourcemap"],
  ...["speculation-rules", "x-sourcemap"],
];

/**
 * `coffer console verify`: compares every page, script, worker and style that an address serves,
 * and their headers, with the manifest of a release. Exit 1 when one differs.
 */
export async function verifyConsole({ options, env }: Call<Options>): Promise<void> {
  const { pages, files } = await readManifest(options.manifest);
  const { url } = await resolveAddress(options, env, {
    profile: async () => (await readProfile(profileDirectory(env))).url,
  });
  const wanted = files.flatMap((file) =>
    (file.kind === "page" ? pages : [`/${file.path}`]).map((path) => ({ path, file })),
  );
  const findings: Finding[] = [];
  for (const { path, file } of wanted) findings.push({ path, problem: await problemOf(url, path, file) });
  const differing = findings.filter(({ problem }) => problem !== null);
  if (options.json === true) printJson({ ok: differing.length === 0, url, findings });
  else if (differing.length === 0)
    print(`${url} serves the console of this release: ${findings.length} answers with their headers`);
  else
    printTable(
      ["path", "difference"],
      differing.map(({ path, problem }) => [path, visible(problem ?? "")]),
    );
  if (differing.length > 0) process.exitCode = exitCodes.failure;
}

async function problemOf(url: string, path: string, { headers, sha256 }: ExpectedFile): Promise<string | null> {
  const answer = await answerOf(url + path);
  if (answer.status !== 200) return `answered ${answer.status}`;
  if (createHash("sha256").update(answer.text).digest("hex") !== sha256.identity) return "other content";
  const changed = Object.entries(headers).find(([name, value]) => answer.headers.get(name) !== value);
  if (changed !== undefined) {
    const found = answer.headers.get(changed[0]);
    return found === null ? `no header ${changed[0]}` : `another ${changed[0]}: ${found}`;
  }
  const added = forbiddenHeaders.find((name) => answer.headers.has(name));
  return added === undefined ? null : `a header ${added} that the console never has`;
}

async function answerOf(address: string): Promise<Answer> {
  try {
    return await get(address, browserHeaders);
  } catch (error) {
    if (error instanceof NoAnswer) throw new Failure(exitCodes.network, `${address}: ${error.message}`);
    throw error;
  }
}

async function readManifest(given: string | undefined): Promise<Manifest> {
  const carried = given === undefined && isSea() ? manifestIn(getAsset(carriedManifest, "utf8")) : undefined;
  if (carried !== undefined) return carried;
  const path = given ?? manifestPlaces.map((place) => new URL(place, import.meta.url)).find((each) => existsSync(each));
  if (path === undefined)
    throw usage(
      "this checkout has no manifest: `npm run build -w packages/console` makes one, or name one with --manifest",
    );
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw usage(`${visible(String(path))} cannot be read: ${(error as Error).message}`); // an error of the file system
  }
  const manifest = manifestIn(text);
  if (manifest === undefined) throw usage(`${visible(String(path))} is no manifest of a console of this version`);
  return manifest;
}

function manifestIn(text: string): Manifest | undefined {
  try {
    const read = JSON.parse(text) as Partial<Manifest> & { version?: unknown }; // looked at below
    const { version, pages = [], files = [] } = read;
    const isWhole = files.every(
      ({ path, headers, sha256 }) =>
        typeof path === "string" && typeof headers === "object" && typeof sha256.identity === "string",
    );
    return version === 2 && isWhole && pages.length > 0 && files.length > 0 ? { pages, files } : undefined;
  } catch {
    return undefined;
  }
}

import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, type BuildOptions, type OutputFile, type Plugin } from "esbuild";
import { pagePaths } from "../paths.ts";
import { headersOf } from "./headers.ts";
import { codings, manifestName, sha256, storedPath } from "./manifest.ts";
import type { Coding, Manifest, ManifestFile } from "./manifest.ts";
import { pageHtml } from "./page-html.ts";
import { root, sourcesHash } from "./sources.ts";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Functions of the SDK, by file, that no screen calls, or that do nothing in a browser. The worker
 * starts without them.
 */
const unused: { file: RegExp; names: readonly string[]; returns?: "undefined" }[] = [
  // Starts a history that another program left out.
  { file: /sdk\/src\/histories\/adopt\.ts$/, names: ["adoptFolder", "adoptOrganization", "adoptVault"] },
  // Gives a machine a further folder.
  { file: /sdk\/src\/folders\/grant-folder\.ts$/, names: ["confirmMachine", "grantFolder"] },
  // Corrects up to which entry a former member's signatures count.
  { file: /sdk\/src\/histories\/restate-cut\.ts$/, names: ["restateCut"] },
  // Asks for changed secrets again and again.
  { file: /sdk\/src\/secrets\/watch-secrets\.ts$/, names: ["watchSecrets"] },
  // Finds secrets by their titles and notations, as programs do.
  { file: /sdk\/src\/secrets\/read-by-name\.ts$/, names: ["namedSecret", "readValues"] },
  // A browser shows no pings.
  { file: /sdk\/src\/sync\/watch-pings\.ts$/, names: ["watchPings"], returns: "undefined" },
];

const withoutUnused: Plugin = {
  name: "without-unused",
  setup({ onLoad }) {
    const refusal = 'Promise.reject(new TypeError("no screen of the console does this"))';
    for (const { file, names, returns = refusal } of unused)
      onLoad({ filter: file }, () => ({
        contents: `const none = () => ${returns};\nexport { ${names.map((name) => `none as ${name}`).join(", ")} };`,
      }));
  },
};

/**
 * Builds the console into `folder`, which is made or replaced as a whole. Equal sources give equal files.
 * `from` is the folder that holds `packages` and `node_modules`.
 */
export async function buildConsole(folder: string, from: string = root): Promise<Manifest> {
  const source = join(from, "packages/console/src");
  const sources = sourcesHash(from);
  const common = {
    absWorkingDir: from,
    outdir: join(from, "assets"),
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: ["chrome119", "firefox121", "safari17.4"],
    legalComments: "none",
    logLevel: "silent",
    // The names in the output follow from where a package is linked, not from where that link leads.
    preserveSymlinks: true,
    entryNames: "[name].[hash]",
    chunkNames: "[name].[hash]",
    assetNames: "[name].[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
  } satisfies BuildOptions;
  // Built by itself: as a chunk of the worker it would divide what the worker starts with.
  const formats = await build({ ...common, entryPoints: [join(source, "worker/records/import-formats.ts")] });
  const readers = formats.outputFiles.map((file) => named(file, "worker"));
  // OPAQUE is a chunk of its own, which the worker loads at a login.
  const worker = await build({
    ...common,
    entryPoints: [join(source, "worker/worker.ts")],
    splitting: true,
    plugins: [withoutUnused],
    external: ["/assets/*"],
    define: { __IMPORT_PATH__: JSON.stringify(`/${readers[0]?.path ?? ""}`) },
  });
  const workers = [...readers, ...worker.outputFiles.map((file) => named(file, "worker"))];
  const main = workers.find(({ path }) => path.startsWith("assets/worker."));
  if (main === undefined) throw new Error("the build has no worker");
  const style = await build({
    ...common,
    entryPoints: [join(source, "styles/console.css")],
    loader: { ".svg": "file" },
  });
  const languages = await build({
    ...common,
    entryPoints: ["en", "de"].map((tag) => join(source, `messages/${tag}.ts`)),
  });
  const texts = languages.outputFiles.map((file) => named(file, "asset"));
  const page = await build({
    ...common,
    entryPoints: [join(source, "page/page.tsx")],
    define: {
      __LANGUAGES__: JSON.stringify(Object.fromEntries(texts.map((file) => [tagOf(file), linked(file)]))),
      __WORKER_PATH__: JSON.stringify(`/${main.path}`),
      __SOURCES__: JSON.stringify(sources),
      __VERSION__: JSON.stringify(versionOf(from)),
    },
  });
  const icon = readFileSync(join(source, "page/icon.svg"));
  const assets = [
    ...texts,
    ...[...style.outputFiles, ...page.outputFiles].map((file) => named(file, "asset")),
    { path: `assets/icon.${sha256(icon).slice(0, 8).toUpperCase()}.svg`, kind: "asset" as const, bytes: icon },
  ];
  const find = (name: string, end: string) => {
    const found = assets.find(({ path }) => path.startsWith(`assets/${name}.`) && path.endsWith(end));
    if (found === undefined) throw new Error(`the build has no ${name}`);
    return linked(found);
  };
  const html = pageHtml({
    script: find("page", ".js"),
    style: find("console", ".css"),
    icon: find("icon", ".svg"),
  });
  const files = [{ path: "index.html", kind: "page" as const, bytes: Buffer.from(html) }, ...assets, ...workers];
  return store(folder, files, sources);
}

function versionOf(from: string): string {
  const { version } = JSON.parse(readFileSync(join(from, "packages/console/package.json"), "utf8")) as {
    version: string;
  };
  return version;
}

interface Output {
  path: string;
  kind: ManifestFile["kind"];
  bytes: Uint8Array;
}

function named({ path, contents }: OutputFile, kind: Output["kind"]): Output {
  return { path: `assets/${path.replaceAll("\\", "/").split("/").at(-1) ?? ""}`, kind, bytes: contents };
}

/** The language of a module of messages. */
function tagOf({ path }: Output): string {
  return path.slice("assets/".length).split(".")[0] ?? "";
}

function linked({ path, bytes }: Output): { path: string; integrity: string } {
  return { path: `/${path}`, integrity: integrityOf(bytes) };
}

/** Writes all files into a new folder, which takes the place of `folder` when it is complete. */
function store(folder: string, outputs: readonly Output[], sources: string): Manifest {
  mkdirSync(dirname(folder), { recursive: true });
  const partial = mkdtempSync(join(dirname(folder), ".building-"));
  // The image is built as root and serves as another user.
  chmodSync(partial, 0o755);
  const sorted = outputs.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const files = sorted.map(({ path, kind, bytes }): ManifestFile => {
    mkdirSync(dirname(join(partial, path)), { recursive: true });
    const forms = codings.map((coding) => {
      const form = compressed(bytes, coding);
      writeFileSync(join(partial, storedPath(path, coding)), form);
      return [coding, sha256(form)] as const;
    });
    const type = types[path.slice(path.lastIndexOf("."))] ?? "application/octet-stream";
    return {
      path,
      kind,
      type,
      headers: headersOf({ kind, type }),
      sha256: Object.fromEntries(forms) as ManifestFile["sha256"],
    }; // one for each coding
  });
  const manifest: Manifest = { version: 2, sources, pages: pagePaths, files };
  writeFileSync(join(partial, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  replace(partial, folder);
  return manifest;
}

function compressed(bytes: Uint8Array, coding: Coding): Uint8Array {
  if (coding === "identity") return bytes;
  if (coding === "gzip") return gzipSync(bytes, { level: 9 });
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
}

/** Another process may build the same folder at the same time: its result is as good. */
function replace(partial: string, folder: string): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
      renameSync(partial, folder);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // an error of the file system
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || attempt === 5) throw error;
    }
  }
}

function integrityOf(bytes: Uint8Array): string {
  return `sha256-${createHash("sha256").update(bytes).digest("base64")}`;
}

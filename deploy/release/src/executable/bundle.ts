import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { checkout } from "../../../local/src/checkout.ts";

/** The code of the command for an executable: scripts of CommonJS that import modules of Node alone. */
export interface Bundle {
  main: string;
  worker: string;
  /** The path of the decoder of bzip2. */
  bzip2: string;
}

export const bzip2Asset = "bzip2.wasm";

/** No file is there: an executable has no checkout. */
const nowhere = "file:///dev/null/packages/cli/src/coffer/main.js";

const decoder = "node_modules/@foxglove/wasm-bz2/wasm";
const seam = "if (Module['wasmBinary']) wasmBinary = Module['wasmBinary'];";

/** The decoder of bzip2 reads a file beside it: in an executable, an asset. */
const decoderFromAsset: Plugin = {
  name: "decoder-from-asset",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]wasm-bz2[/\\]wasm[/\\]module\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes(seam)) throw new Error(`${path}: the place where it takes a module is not there`);
      const asset = `new Uint8Array(require("node:sea").getRawAsset(${JSON.stringify(bzip2Asset)}))`;
      return { contents: text.replace(seam, `wasmBinary = ${asset};`) };
    });
  },
};

/** Bundles the command and the thread of its scanner. Equal sources give equal bundles. */
export async function bundleCommand(): Promise<Bundle> {
  const [main, worker] = await Promise.all([
    bundled("packages/cli/src/executable.ts"),
    bundled("packages/scan/src/pool/scan-worker.ts"),
  ]);
  return { main, worker, bzip2: join(checkout, decoder, "module.wasm") };
}

async function bundled(entry: string): Promise<string> {
  const options = {
    absWorkingDir: checkout,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: "cjs",
    platform: "node",
    target: "node24",
    define: { "import.meta.url": JSON.stringify(nowhere) },
    // Names stay: stack traces and the names of errors are those of the sources.
    minifyWhitespace: true,
    minifySyntax: true,
    keepNames: true,
    legalComments: "none",
    loader: { ".wasm": "empty" },
    plugins: [decoderFromAsset],
    logLevel: "silent",
  } satisfies BuildOptions;
  const { outputFiles, metafile } = await build(options);
  const foreign = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === "dynamic-import" && external === true).map(({ path }) => path),
  );
  // With a code cache, Node has no import().
  if (foreign.length > 0)
    throw new Error(`${entry} imports ${foreign.join(", ")} when it runs: import it at the start`);
  return outputFiles[0]?.text ?? "";
}

import type { Manifest } from "./package-folder.ts";

/**
 * The manifest of a package as others install it: what names a source below `src` names what was compiled from it
 * below `dist` instead. The command starts there directly, since it needs no Node that can run TypeScript.
 */
export function publishedManifest(manifest: Manifest): Manifest {
  const { exports, bin, devDependencies: _ofTheCheckout, ...rest } = manifest;
  return {
    ...rest,
    ...(exports === undefined ? {} : { exports: compiledExports(exports as Record<string, string>) }),
    ...(bin === undefined ? { sideEffects: false } : { bin: { coffer: "./dist/coffer.js" } }),
  };
}

function compiledExports(exports: Record<string, string>): Record<string, unknown> {
  const compiled = (source: string, extension: string): string =>
    source.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, extension);
  return Object.fromEntries(
    Object.entries(exports).map(([name, source]) => [
      name,
      { types: compiled(source, ".d.ts"), default: compiled(source, ".js") },
    ]),
  );
}

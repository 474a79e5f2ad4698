import type { Manifest } from "./package-folder.ts";

/**
 * The manifest of a package as others install it: what names a source below `src` names what was compiled from it
 * below `dist` instead. `bin/start.mjs` of the command finds the compiled code by itself.
 */
export function publishedManifest(manifest: Manifest): Manifest {
  const { exports, devDependencies: _ofTheCheckout, ...rest } = manifest;
  return {
    ...rest,
    ...(exports === undefined ? {} : { exports: compiledExports(exports as Record<string, string>) }),
    ...(rest["bin"] === undefined ? { sideEffects: false } : {}),
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

import { spawnSync } from "node:child_process";

/**
 * The packages, by import name, that a separate process has loaded after importing a module and running
 * `code`, which knows the module as `loaded`. Throws with the output of the process if it fails.
 */
export function loadedPackages(module: URL, code = ""): string[] {
  const program = `
    import { registerHooks } from "node:module";
    const names = new Set();
    registerHooks({
      resolve(name, context, next) {
        if (/^[a-z@]/.test(name) && !/^(node|file):/.test(name)) names.add(name);
        return next(name, context);
      },
    });
    const loaded = await import(${JSON.stringify(module.href)});
    ${code}
    process.stdout.write(JSON.stringify([...names]), () => process.exit());`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as string[]; // as the program wrote it
}

import { copyFileSync, chmodSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buildConsole } from "@coffer/console-app/build";
import { manifestName } from "@coffer/console-app/manifest";
import { newFolder } from "../../../pack/src/stage-checkout.ts";
import { run } from "../run.ts";
import { bundleCommand, bzip2Asset } from "./bundle.ts";
import { executableName } from "./names.ts";
import { nodeProgram } from "./node-package.ts";

/** Where Node looks whether an application is in it. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/**
 * Writes the command as one file for this platform: Node with the bundle in it. Two runs on one commit
 * write equal files.
 * `work` is a folder for files in between.
 * @throws Error with the message of the program that failed
 */
export async function makeExecutable(version: string, work: string, out: string): Promise<void> {
  const folder = newFolder(work, "executable");
  const bundle = await bundleCommand();
  await buildConsole(join(folder, "console"));
  writeFileSync(join(folder, "coffer.js"), bundle.main);
  writeFileSync(join(folder, "scan-worker.js"), bundle.worker);
  copyFileSync(bundle.bzip2, join(folder, bzip2Asset));
  const configuration = {
    main: "coffer.js",
    output: "blob",
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // Node reads its options from the environment and anywhere in the words of a command. The words after
    // `--` are the
    // command's own.
    execArgvExtension: "none",
    execArgv: ["--"],
    assets: {
      "scan-worker.js": "scan-worker.js",
      "console-manifest.json": `console/${manifestName}`,
      [bzip2Asset]: bzip2Asset,
    },
  };
  writeFileSync(join(folder, "sea.json"), JSON.stringify(configuration));
  // The code cache has hashes that V8 seeds by chance.
  run(nodeProgram, ["--random-seed=1", "--experimental-sea-config", "sea.json"], folder);
  const file = join(out, executableName(version));
  copyFileSync(nodeProgram, file);
  chmodSync(file, 0o755);
  const isMac = process.platform === "darwin";
  if (isMac) run("codesign", ["--remove-signature", file], folder);
  const postject = join(dirname(createRequire(import.meta.url).resolve("postject")), "cli.js");
  const segment = isMac ? ["--macho-segment-name", "NODE_SEA"] : [];
  const inject = [postject, file, "NODE_SEA_BLOB", join(folder, "blob"), "--sentinel-fuse", fuse, ...segment];
  run(process.execPath, inject, folder);
  if (isMac) run("codesign", ["--sign", "-", file], folder);
  const printed = run(file, ["--version"], folder).trim();
  if (printed !== version) throw new Error(`${file} --version prints ${printed}, not ${version}`);
}

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkout } from "../../local/src/checkout.ts";
import { assemble } from "./assemble.ts";
import { fileList, sizeOf } from "./file-list.ts";

const mostBytes = 250_000_000;

/**
 * Compares an image with the output of `assemble` for this checkout, file by file, and its size with
 * 250 MB. Throws an Error that names the differences.
 */
export function checkImage(service: string, archive: string): void {
  const folder = mkdtempSync(join(tmpdir(), "coffer-image-"));
  try {
    const root = join(folder, "root");
    unpack(archive, join(folder, "archive"), root);
    const bytes = sizeOf(root);
    if (bytes > mostBytes) throw new Error(`${service}: the image has ${bytes} bytes, more than ${mostBytes}`);
    assemble(checkout, service, join(folder, "assembled"));
    const [built, expected] = [fileList(join(root, "app")), fileList(join(folder, "assembled"))];
    const different = [...new Set([...built.keys(), ...expected.keys()])].filter(
      (file) => built.get(file) !== expected.get(file),
    );
    if (different.length > 0) throw new Error(`${service}: the image differs in ${different.slice(0, 20).join(", ")}`);
    process.stdout.write(`${service}: ${built.size} files below /app as assembled, ${bytes} bytes in all\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes the root of a docker-archive file's image: its layers in order. Ours remove nothing. */
function unpack(archive: string, folder: string, root: string): void {
  for (const each of [folder, root]) mkdirSync(each, { recursive: true });
  execFileSync("tar", ["-xf", archive, "-C", folder]);
  const [image] = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as { Layers: string[] }[]; // buildah wrote it
  for (const layer of image?.Layers ?? [])
    execFileSync("tar", ["-xf", join(folder, layer), "-C", root, "--no-same-owner"]);
}

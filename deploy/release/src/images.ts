import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { presentServices } from "../../local/src/services/services.ts";

/** The services and the command, each of which has an image. */
export const imageNames = (): string[] => [...presentServices().map(({ name }) => name), "cli"];

/** The images of a release, with their tags. */
export function imageList(registry: string, version: string): string[] {
  return imageNames().map((name) => `${registry}/${name}:${version}`);
}

/** The images with the digests that a folder's files *.digest have. Throws for a missing image. */
export function imagesWithDigests(images: readonly string[], folder: string): string[] {
  const lines = globSync("*.digest", { cwd: folder }).map((name) => readFileSync(join(folder, name), "utf8").trim());
  return images.map((image) => {
    const found = lines.find((line) => /@sha256:[0-9a-f]{64}$/.test(line) && line.startsWith(`${image}@`));
    if (found === undefined) throw new Error(`${folder} has no digest of ${image}: build that image first`);
    return found;
  });
}

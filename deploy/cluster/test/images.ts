import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "./kube.ts";
import type { Options } from "./options.ts";
import { buildStoreImages } from "../../docker/src/store-images.ts";

/** Builds the chart's images and loads them into the cluster. */
export async function provideImages(options: Options, directory: string): Promise<void> {
  const { images, localImages, load } = options;
  const folder = images ?? directory;
  if (images === undefined)
    await run("npm", ["run", "--silent", "images", "--", "--out", folder, ...(localImages ? ["--local-bases"] : [])]);
  const stores = localImages ? await buildStoreImages(directory) : [];
  const archives = readdirSync(folder).filter((name) => name.endsWith(".tar"));
  const files = [...archives.map((name) => join(folder, name)), ...stores.map(({ archive }) => archive)];
  if (load !== undefined) await run("/bin/sh", ["-c", `${load} "$@"`, "sh", ...new Set(files)]);
}

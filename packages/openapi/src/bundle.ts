import { fileURLToPath } from "node:url";
import { bundle, createConfig } from "@redocly/openapi-core";
import { descriptionFile } from "./description.ts";

/** The file with the whole description. */
export const bundleFile = new URL("../../../docs/spec/openapi.json", import.meta.url);

/**
 * The description as the text of one JSON file: every reference in it names a part of the file.
 * @throws Error when two schemas of different files have one name, since one of them would get another
 */
export async function bundledDescription(): Promise<string> {
  const config = await createConfig({});
  const { bundle: bundled, problems } = await bundle({ ref: fileURLToPath(descriptionFile), config });
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"));
  return `${JSON.stringify(bundled.parsed, null, 2)}\n`;
}

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Runs the migrations of a checkout, as its images do.
 * @param urls of each service's own role, by schema
 */
export async function migrate(folder: string, urls: Readonly<Record<string, string>>): Promise<void> {
  for (const [schema, url] of Object.entries(urls)) {
    const program = join(folder, "services", schema.replaceAll("_", "-"), "src/migrate-main.ts");
    // The load of this process goes on meanwhile.
    await run(process.execPath, [program], { env: { PATH: process.env["PATH"], COFFER_POSTGRES_URL: url } });
  }
}

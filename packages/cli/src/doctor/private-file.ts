import { stat } from "node:fs/promises";
import { errorCode } from "../files/error-code.ts";
import { type Finding, fine, problem } from "./finding.ts";

/**
 * Whether a file with secrets exists and only its owner can access it; undefined when there is no
 * such file.
 */
export async function checkPrivateFile(check: string, path: string): Promise<Finding | undefined> {
  let mode: number;
  try {
    const found = await stat(path);
    if (!found.isFile()) return problem(check, `${path} is not an ordinary file`, "move it away");
    mode = found.mode & 0o777;
  } catch (error) {
    const code = errorCode(error) ?? "unknown";
    if (code === "ENOENT") return undefined;
    // A presumed path may be a broken configuration, so it is named only when it exists.
    return problem(check, `its file cannot be looked at (${code})`, "give this user access to it and to its folder");
  }
  // Windows controls access in another way.
  if (process.platform === "win32" || (mode & 0o077) === 0) return fine(check, `${path} is for you alone`);
  return problem(check, `${path} is for others too (mode ${mode.toString(8).padStart(4, "0")})`, `chmod 600 ${path}`);
}

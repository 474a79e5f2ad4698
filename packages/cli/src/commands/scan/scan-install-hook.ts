import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isSea } from "node:sea";
import type { Call } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { printJson, printNotice } from "../../output/output.ts";
import { cannotScan } from "../../scan/exit-codes.ts";
import { findRepository, git } from "../../scan/git.ts";
import { wholeOrIncomplete } from "./scan.ts";

const mark = "# Written by coffer scan install-hook.";
const keptName = "pre-commit.before-coffer";

/**
 * `coffer scan install-hook`: a pre-commit hook that scans what is staged, and runs the hook that
 * was there before.
 */
export async function scanInstallHook({ options }: Call<{ json?: boolean }>): Promise<void> {
  await wholeOrIncomplete(async () => {
    const repository = await findRepository(process.cwd());
    if (repository === null) throw cannotScan("install-hook needs a git repository");
    const { root } = repository;
    // git answers with core.hooksPath when it is set.
    const said = (await git(root, ["rev-parse", "--git-path", "hooks"])).toString("utf8").replace(/\n$/, "");
    const folder = resolve(root, said);
    mkdirSync(folder, { recursive: true });
    const hook = join(folder, "pre-commit");
    const kept = join(folder, keptName);
    const keeps = existsSync(hook) && !readFileSync(hook, "utf8").includes(mark);
    if (keeps && existsSync(kept)) throw usage(`${hook} and ${kept} are both there: put them into one first`);
    if (keeps) renameSync(hook, kept);
    writeFileSync(hook, hookText(isSea() ? process.execPath : resolve(process.argv[1] ?? "coffer")));
    chmodSync(hook, 0o755);
    if (options.json === true) printJson({ hook, kept: existsSync(kept) ? kept : null });
    printNotice(`coffer: ${hook} scans what is staged before each commit`);
    if (keeps) printNotice(`coffer: the hook that was there is ${kept}, and runs first`);
  });
}

/** The hook calls this very command by its full path: a commit must not depend on a PATH. */
function hookText(command: string): string {
  return `#!/bin/sh
${mark}
before="$(dirname -- "$0")/${keptName}"
if [ -x "$before" ]; then "$before" "$@" || exit $?; fi
exec ${quoted(command)} scan --staged
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

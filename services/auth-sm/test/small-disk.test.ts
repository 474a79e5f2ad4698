import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tiedToThisProcess } from "@coffer/stores";
import { ownMountsVariable } from "./small-disk/own-mounts.ts";

// The test itself is run where mounts are of its own: whatever becomes of it, the system keeps none of them.

const unshare = ["unshare", "--mount", "--", process.execPath] as const;
const mayMount = process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "--", "true"]).status === 0;

if (mayMount && process.env[ownMountsVariable] === undefined) {
  const [program = "", ...args] = tiedToThisProcess([...unshare, import.meta.filename], "SIGKILL");
  const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, [ownMountsVariable]: "yes" } });
  process.once("SIGTERM", () => child.kill("SIGTERM"));
  await once(child, "exit");
  process.exitCode = child.exitCode ?? 1;
} else {
  await import("./small-disk/fill.ts");
}

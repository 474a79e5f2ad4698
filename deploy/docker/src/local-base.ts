import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { buildah } from "./buildah.ts";

/** libc loads these by name when it resolves host names. */
const nameService = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Where this machine has a static shell (Debian: busybox-static). */
const busybox = "/bin/busybox";

/**
 * Makes two base images from files of this machine, without a registry, for Debian and Ubuntu: the
 * Node of node_modules with the libraries that it links to, and the same with npm and busybox. They
 * stand in for the base images of the Dockerfile where these cannot be pulled. Returns their names.
 */
export function makeLocalBases(checkout: string): { build: string; runtime: string } {
  if (!existsSync(busybox)) throw new Error(`${busybox} is needed for the build image: apt-get install busybox-static`);
  const root = mkdtempSync(join(tmpdir(), "coffer-base-"));
  try {
    chmodSync(root, 0o755);
    makeNodeRoot(checkout, root);
    const runtime = commit(root, "localhost/coffer-runtime-base", []);
    for (const name of execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n"))
      if (name !== "busybox") symlinkSync("busybox", join(root, "bin", name));
    cpSync(busybox, join(root, "bin/busybox"));
    cpSync(npmFolder(), join(root, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true });
    for (const name of ["npm", "npx"])
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, "usr/local/bin", name));
    symlinkSync("../../bin/env", join(root, "usr/bin/env"));
    return { runtime, build: commit(root, "localhost/coffer-build-base", ["--cmd", "sh"]) };
  } finally {
    rmSync(root, { recursive: true });
  }
}

function makeNodeRoot(checkout: string, root: string): void {
  for (const folder of ["bin", "etc/ssl/certs", "home/nonroot", "tmp", "usr/bin", "usr/local/bin"])
    mkdirSync(join(root, folder), { recursive: true });
  chmodSync(join(root, "tmp"), 0o1777);
  const node = realpathSync(resolve(checkout, "node_modules/node/bin/node"));
  cpSync(node, join(root, "usr/local/bin/node"));
  const linked = execFileSync("ldd", [node], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
  const libc = linked.find((path) => path.includes("/libc.so")) ?? "/lib";
  const libraries = [...linked, ...nameService.map((name) => join(dirname(libc), name))];
  for (const library of libraries.filter((path) => existsSync(path))) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    cpSync(realpathSync(library), join(root, library));
  }
  if (existsSync(certificates)) cpSync(realpathSync(certificates), join(root, certificates));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/:/\nnonroot:x:65532:65532:nonroot:/home/nonroot:/\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnonroot:x:65532:\n");
  writeFileSync(join(root, "etc/nsswitch.conf"), "hosts: files dns\n");
}

/** The folder of the npm that runs this program, else of the one on the PATH. */
function npmFolder(): string {
  const own = process.env["npm_execpath"];
  if (own !== undefined && own.endsWith("npm-cli.js")) return dirname(dirname(realpathSync(own)));
  const found = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "npm"))
    .find((file) => existsSync(file) && realpathSync(file).endsWith("npm-cli.js"));
  if (found === undefined) throw new Error("npm is needed for the build image");
  return dirname(dirname(realpathSync(found)));
}

function commit(root: string, name: string, config: readonly string[]): string {
  const container = buildah(["from", "scratch"]).trim();
  buildah(["copy", "--quiet", container, root, "/"]);
  buildah(["config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin", ...config, container]);
  buildah(["commit", "--quiet", "--rm", container, name]);
  return name;
}

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { helm } from "../../chart/src/helm.ts";
import { fileList } from "../../docker/src/file-list.ts";
import { placesIn, tokenOf } from "../../../packages/cli/test/scan/scan-repository.ts";
import { checkout } from "../../local/src/checkout.ts";
import { npmStart } from "../../local/test/npm-start.ts";
import { checksumProblems } from "../src/checksums.ts";
import { executableName } from "../src/executable/names.ts";
import { imageList } from "../src/images.ts";
import { mainVersion } from "../src/versions.ts";

const version = mainVersion(checkout);
const root = testDirectory(t);
const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(checkout, "deploy/release/src/main.ts"), ...args], { encoding: "utf8" });

const billIn = (name: string) =>
  JSON.parse(readFileSync(join(first, name), "utf8")) as {
    metadata: { component: { name: string; version: string } };
    components: { name: string }[];
  };
const [first, second] = [join(root, "first"), join(root, "second")];

await t.test("a dry run makes the files of a release, equal each time", (t) => {
  const { status, stdout, stderr } = release("--dry-run", "--out", first);
  t.equal(status, 0, stderr);
  t.match(stdout, /release\.yml does besides/);
  t.same(readdirSync(first).sort(), [
    "RELEASE_NOTES.md",
    "SHA256SUMS",
    `coffer-${version}-executable-licenses.txt`,
    `coffer-${version}-executable.cdx.json`,
    executableName(version),
    `coffer-${version}.cdx.json`,
    `coffer-${version}.tgz`,
    `coffer-chart-${version}.tgz`,
    "images.txt",
  ]);
  t.equal(release("--dry-run", "--out", second).status, 0);
  t.same(fileList(second), fileList(first), "two runs write the same bytes");

  const bill = billIn(`coffer-${version}.cdx.json`);
  t.match(bill.metadata.component, { name: "coffer", version });
  const packed = execFileSync("tar", ["-tzf", join(first, `coffer-${version}.tgz`)], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  const bundled = new Set(
    Array.from(packed.matchAll(/^package\/node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/gm), ([, name]) => name),
  );
  t.same(new Set(bill.components.map(({ name }) => name)), bundled, "it names each package that is packed");
  const ofExecutable = billIn(`coffer-${version}-executable.cdx.json`).components.map(({ name }) => name);
  t.same(new Set(ofExecutable), new Set([...bundled, "node"]));
  const licenses = readFileSync(join(first, `coffer-${version}-executable-licenses.txt`), "utf8");
  for (const name of ["Coffer", "Node.js", ...bundled]) t.match(licenses, new RegExp(`^=+\n${name}\\b`, "m"));

  const notes = readFileSync(join(first, "RELEASE_NOTES.md"), "utf8");
  t.match(notes, /^# Coffer /);
  t.ok(notes.indexOf("- Operators must") < notes.search(/^- (?!Operators must)/m));
  t.equal(
    readFileSync(join(first, "images.txt"), "utf8"),
    imageList("registry.example.com/coffer", version).join("\n") + "\n",
  );

  const rendered = spawnSync(
    helm(),
    [
      "template",
      "coffer",
      join(first, `coffer-chart-${version}.tgz`),
      "--kube-version",
      "1.34.0",
      "--values",
      join(checkout, "charts/coffer/ci/production-external-values.yaml"),
    ],
    { encoding: "utf8", maxBuffer: 1 << 26 },
  );
  t.equal(rendered.status, 0, rendered.stderr);
  t.match(rendered.stdout, new RegExp(`image: "?[^ ]+/vaults:${version.replaceAll(".", "\\.")}"?$`, "m"));

  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: first });
  t.same(checksumProblems(first), []);
  t.end();
});

const home = join(root, "home");
const tools = { PATH: "/usr/bin:/bin" };

/** Runs the executable in its own folder, without a PATH. */
function start(
  args: readonly string[],
  { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {},
) {
  return spawnSync(join(home, "coffer"), args, {
    cwd: home,
    env: { HOME: home, PATH: "", COFFER_TEST_DIRECTORY: process.env["COFFER_TEST_DIRECTORY"] ?? "", ...env },
    encoding: "utf8",
    input,
  });
}

await t.test("the executable needs no Node and no PATH, and Node takes no option of the command", (t) => {
  mkdirSync(home);
  renameSync(join(first, executableName(version)), join(home, "coffer"));
  t.match(start(["--version"]), { status: 0, stdout: `${version}\n`, stderr: "" });
  t.match(start(["--help"]), { status: 0, stdout: /^ {2}run \[options\] <command\.\.\.>/m });
  t.match(start(["nonsense"]), { status: 2, stderr: /unknown command/ });
  t.match(start(["get"]), { status: 2 });
  t.match(start(["ls"]), { status: 3, stderr: /not logged in/ });
  const completion = start(["completion", "bash"]).stdout;
  t.match(completion, /complete -o default -F _coffer coffer/);
  t.equal(spawnSync("bash", ["-n"], { input: completion }).status, 0);

  const words = ["run", "printf", "%s|", "--env-file", "none", "--env-file-if-exists=none", "--version", "-p", "1"];
  t.match(start(words, { env: tools }), {
    status: 0,
    stdout: "--env-file|none|--env-file-if-exists=none|--version|-p|1|",
    stderr: "",
  });
  for (const options of ["--no-such-option", "--require ./none.cjs"])
    t.match(
      start(["--version"], { env: { NODE_OPTIONS: options } }),
      { status: 0, stderr: "" },
      "NODE_OPTIONS is for Node",
    );
  t.match(start(["run", "sh", "-c", "exit 42"], { env: tools }), { status: 42 });
  t.match(start(["run", "sh", "-c", "kill -9 $$"], { env: tools }), { status: 137 });
  const handler = 'sleep 10 & trap "kill $!; exit 7" TERM; kill -TERM $PPID; wait';
  t.match(start(["run", "sh", "-c", handler], { env: tools }), { status: 7 }, "it forwards signals");
  t.match(start(["run", "no-such-command"]), { status: 127 });
  t.end();
});

await t.test("the executable scans with threads, in packed files and with rules of a configuration", (t) => {
  const secret = tokenOf(1);
  const tree = join(home, "tree");
  mkdirSync(tree);
  for (let each = 0; each < 450; each += 1) writeFileSync(join(tree, `${each}.txt`), `line ${each}\n`);
  writeFileSync(join(tree, "planted.txt"), `${secret}\n`);
  for (const [program, ...args] of [
    ["tar", "-cf", "planted.tar", "planted.txt"],
    ["bzip2", "--keep", "planted.txt"],
    ["xz", "--keep", "planted.txt"],
  ])
    if (spawnSync(program ?? "", args, { cwd: tree }).status !== 0) t.comment(`there is no ${program ?? ""}`);
  writeFileSync(
    join(home, "rules.toml"),
    `[[rules]]\nid = "acme"\nkind = "acme"\nkeywords = ["acme_"]\npattern = "acme_(?<secret>[a-z0-9]{8})"\n`,
  );
  writeFileSync(join(tree, "acme.txt"), "acme_k3j5h2l9\n");
  const found = start(["scan", "--threads", "2", "--config", "rules.toml", "--format", "json", "tree"]);
  t.equal(found.status, 1, found.stderr);
  const packed = readdirSync(tree).flatMap((name) =>
    name === "planted.tar" ? [`tree/${name}!/planted.txt:1:1`] : /^planted/.test(name) ? [`tree/${name}:1:1`] : [],
  );
  t.same(placesIn({ ...found, code: found.status }), ["tree/acme.txt:1:6", ...packed].sort());
  t.end();
});

await t.test("the executable works with a service, as a person and as a machine", async (t) => {
  const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
  const uri = "coffer://production/database/field/password";
  const coffer = (words: string, env: Record<string, string> = {}, input = ""): string => {
    const { status, stdout, stderr } = start(words.split(" "), { env: { COFFER_URL: url, ...env }, input });
    t.equal(status, 0, stderr);
    return stdout.trimEnd();
  };
  const password = { COFFER_PASSWORD: "correct horse battery staple" };
  t.match(coffer("register --email you@example.com --org Example", password), /^cfr1_/);
  coffer("folder create production");
  coffer(`set ${uri}`, {}, "s3cret");
  coffer("app create api");
  const token = coffer("token create --app api --folder production:read");
  coffer("bootstrap --config machine.json", {}, token);
  t.equal(coffer(`read --config machine.json ${uri}`), "s3cret");
  t.equal(coffer("run --no-mask --config machine.json -- printenv DB", { DB: uri, ...tools }), "s3cret");
  t.match(coffer("console verify"), /serves the console of this release/);
});

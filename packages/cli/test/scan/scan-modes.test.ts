import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { coffer } from "../command.ts";
import { newRepository, placesIn, tokenOf } from "./scan-repository.ts";

const folder = testDirectory(t);
let count = 0;
const repository = () => newRepository(join(folder, `repository-${(count += 1)}`));
const json = ["--format", "json"];

await t.test("a plain run scans tracked and untracked files and what only the index holds", async (t) => {
  const { root, git, write, commit, scan } = repository();
  commit("first", {
    "tracked.txt": `a ${tokenOf(1)}\n`,
    ".gitignore": "ignored\n",
    "deep/er/b.txt": `ü ${tokenOf(2)}`,
  });
  write("untracked.txt", tokenOf(3));
  write("ignored", tokenOf(4));
  write("index.txt", tokenOf(5));
  git("add", "index.txt");
  write("index.txt", "clean again");
  symlinkSync(join(root, "ignored"), join(root, "link"));
  const outcome = await scan(json);
  t.equal(outcome.code, 1);
  t.same(placesIn(outcome), ["deep/er/b.txt:1:3", "index.txt:1:1", "tracked.txt:1:3", "untracked.txt:1:1"]);
  t.same(placesIn(await scan([...json, "--no-git-ignore"])), [
    ...["deep/er/b.txt:1:3", "ignored:1:1", "index.txt:1:1", "tracked.txt:1:3", "untracked.txt:1:1"],
  ]);
  t.same(placesIn(await scan([...json, "deep"])), ["deep/er/b.txt:1:3"]);
  t.same(placesIn(await scan([...json, "ignored"])), ["ignored:1:1"], "a file that is named");
  t.same(placesIn(await scan([...json, "link"])), ["link:1:1"], "a link that is named is followed");
});

await t.test("without a repository all files below the folder are scanned", async (t) => {
  const home = join(folder, "plain");
  mkdirSync(join(home, ".hidden/vendor"), { recursive: true });
  writeFileSync(join(home, ".hidden/vendor/package-lock.json"), tokenOf(1, "npm-token"));
  const { scan } = newRepository(join(folder, "elsewhere"));
  const outcome = await scan([...json, home]);
  t.match(outcome, { code: 1 });
  t.same(placesIn(outcome), [`${home}/.hidden/vendor/package-lock.json:1:1`]);
});

await t.test("--staged reports staged lines alone", async (t) => {
  const { git, write, commit, scan } = repository();
  write("new.txt", `one\n${tokenOf(1)}\n`);
  git("add", ".");
  t.same(placesIn(await scan(["--staged", ...json])), ["new.txt:2:1"], "before the first commit");
  commit("old", { "old.txt": `${tokenOf(2)}\n` });
  t.match(await scan(["--staged", ...json]), { code: 0 });
  write("old.txt", `${tokenOf(2)}\nmore\n${tokenOf(3)}\n`);
  git("add", ".");
  write("old.txt", `${tokenOf(2)}\nmore\n${tokenOf(3)}\n${tokenOf(4)}\n`);
  const outcome = await scan(["--staged", ...json]);
  t.match(outcome, { code: 1 });
  t.same(placesIn(outcome), ["old.txt:3:1"]);
});

await t.test("--staged finds a key of several lines, of which one is new", async (t) => {
  const { git, write, commit, scan } = repository();
  const lines = tokenOf(1, "rsa-private-key").split("\n");
  commit("part", { "key.pem": lines.filter((_, index) => index !== 3).join("\n") });
  write("key.pem", lines.join("\n"));
  git("add", ".");
  t.match(await scan(["--staged", ...json]), { code: 1, stdout: /RSA private key block/ });
});

await t.test("--range reports the lines that its commits add, with the commit, and messages", async (t) => {
  const { commit, git, scan } = repository();
  const base = commit("base", { "a.txt": `${tokenOf(1)}\n` });
  const second = commit("second", { "a.txt": `${tokenOf(1)}\n${tokenOf(2)}\n` });
  git("rm", "-q", "a.txt");
  const third = commit(`third ${tokenOf(3)}`, { "b.txt": "clean" });
  const outcome = await scan(["--range", `${base}..HEAD`, ...json]);
  t.match(outcome, { code: 1 });
  t.same(placesIn(outcome), [`a.txt:2:1 ${second}`, `commit message:1:7 ${third}`]);
  t.match(await scan(["--range", "HEAD..HEAD", ...json]), { code: 0 });
});

await t.test("--range reports what a merge adds while resolving", async (t) => {
  const { commit, git, write, scan } = repository();
  const base = commit("base", { "a.txt": "a\n" });
  git("checkout", "-q", "-b", "side");
  commit("side", { "side.txt": "s\n" });
  git("checkout", "-q", "main");
  commit("main", { "main.txt": "m\n" });
  git("merge", "-q", "--no-commit", "side");
  write("a.txt", `a\n${tokenOf(1)}\n`);
  write("evil.txt", tokenOf(2));
  const merge = commit("merge", {});
  const places = [`a.txt:2:1 ${merge}`, `evil.txt:1:1 ${merge}`];
  t.same(placesIn(await scan(["--range", `${base}..HEAD`, ...json])), places);
  t.same(placesIn(await scan(["--history", ...json])), places);
});

await t.test("--history finds every place of a repository", async (t) => {
  const { commit, git, write, scan } = repository();
  const first = commit("first", { "gone.txt": `${tokenOf(1)}\n` });
  git("rm", "-q", "gone.txt");
  commit("gone", {});
  git("checkout", "-q", "-b", "branch");
  const branch = commit(`message ${tokenOf(2)}`, { "branch.txt": `x\n${tokenOf(3)}\n` });
  git("checkout", "-q", "main");
  git("tag", "-a", "v1", "-m", `tag ${tokenOf(4)}`);
  for (const seed of [5, 6]) {
    write("stashed.txt", tokenOf(seed));
    git("add", ".");
    git("stash", "-q");
  }
  const lost = commit("lost", { "lost.txt": tokenOf(7) });
  git("reset", "-q", "--hard", "HEAD~1");
  const outcome = await scan(["--history", ...json]);
  t.match(outcome, { code: 1 });
  const places = placesIn(outcome);
  t.equal(places.filter((place) => place.startsWith("stashed.txt:1:1 ")).length, 2);
  t.same(
    places.filter((place) => !place.startsWith("stashed.txt")),
    [
      `branch.txt:2:1 ${branch}`,
      `commit message:1:9 ${branch}`,
      `gone.txt:1:1 ${first}`,
      "message of tag v1:6:5",
    ].sort(),
  );
  t.ok(placesIn(await scan(["--history", "--reflog", ...json])).includes(`lost.txt:1:1 ${lost}`));
});

await t.test("--history names the commit that brought a secret, not each later version of the file", async (t) => {
  const { commit, scan } = repository();
  const first = commit("first", { "a.txt": `${tokenOf(1)}\n` });
  commit("second", { "a.txt": `more\n${tokenOf(1)}\n` });
  t.same(placesIn(await scan(["--history", ...json])), [`a.txt:1:1 ${first}`]);
});

await t.test("--diff reports added lines with the numbers of the new file", async (t) => {
  const { commit, git, scan } = repository();
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  commit("base", { "a.txt": `${tokenOf(1)}\n${lines.join("\n")}\n`, "dir/ü b.txt": `${tokenOf(2)}\n` });
  const changed = [tokenOf(1), ...lines.slice(0, 20), `  ${tokenOf(3)}`, ...lines.slice(20)];
  commit("change", { "a.txt": `${changed.join("\n")}\n`, "dir/ü b.txt": `x\n${tokenOf(2)}\n${tokenOf(4)}\n` });
  const diff = git("diff", "HEAD~1", "HEAD");
  const outcome = await scan(["--diff", ...json], { input: `${diff}\n` });
  t.match(outcome, { code: 1 });
  t.same(placesIn(outcome), ["a.txt:22:3", "dir/ü b.txt:3:1"]);
  t.match(await scan(["--diff", ...json], { input: "" }), { code: 0 });
  t.match(await scan(["--diff"], { input: "no diff\n" }), { code: 2, stdout: "" });
  const removed = git("diff", "HEAD", "HEAD~1");
  t.same(placesIn(await scan(["--diff", ...json], { input: `${removed}\n` })), []);
});

await t.test("--stdin reports under the given path", async (t) => {
  const { scan } = repository();
  const input = `x\n${tokenOf(1)}`;
  t.same(placesIn(await scan(["--stdin", "--path", "conf/app.env", ...json], { input })), ["conf/app.env:2:1"]);
  t.same(placesIn(await scan(["--stdin", ...json], { input })), ["stdin:2:1"]);
});

await t.test("a file of many pieces gives the lines and columns of the whole", async (t) => {
  const { write, scan } = repository();
  const filler = `${"const a = 1; ".repeat(7)}ü\n`;
  const times = Math.ceil((11 * 1024 * 1024) / Buffer.byteLength(filler));
  write("large.txt", `${filler.repeat(times)}${tokenOf(1)}\n${"x ".repeat(3 * 1024 * 1024)}ü ${tokenOf(2)}`);
  const found = placesIn(await scan(["--threads", "2", ...json]));
  t.same(found, [`large.txt:${times + 1}:1`, `large.txt:${times + 2}:${6 * 1024 * 1024 + 3}`].sort());
});

await t.test("exit codes: 0 clean, 1 or --exit-code findings, 2 wrong use, 3 incomplete", async (t) => {
  const { root, write, scan } = repository();
  t.match(await scan([]), { code: 0, stdout: "" });
  write("a.txt", tokenOf(1));
  t.match(await scan([]), { code: 1 });
  t.match(await scan(["--exit-code", "42"]), { code: 42 });
  t.match(await scan(["--exit-code", "0"]), { code: 0 });
  for (const args of [
    ["nothing-here"],
    ["--staged", "--history"],
    ["--staged", "a.txt"],
    ["--path", "x"],
    ["--reflog"],
    ["--format", "xml"],
    ["--enable", "no-such-rule"],
    ["--config", "nope.toml"],
    ["--baseline", "nope.json"],
    ["--threads", "0"],
    ["--range", "nope..HEAD"],
    ["--range", "--all"],
  ])
    t.match(await scan(args), { code: 2, stdout: "" }, args.join(" "));
  write("large.bin", "");
  truncateSync(join(root, "large.bin"), 3 * 1024 * 1024);
  t.match(await scan(["--max-file-mb", "2"]), { code: 3, stderr: /large\.bin is larger than 2 MiB/ });
  t.match(await scan(["--max-file-mb", "0"]), { code: 1 });
  write("bad.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]));
  t.match(await scan(["bad.gz"]), { code: 3, stderr: /bad\.gz is no whole gzip file/ });
});

await t.test("what git cannot say is incomplete, and so is a repository without git", async (t) => {
  const { root, commit, scan } = repository();
  commit("first", { "a.txt": "clean" });
  const withoutGit = join(folder, "without-git");
  mkdirSync(withoutGit);
  symlinkSync("/usr/bin/env", join(withoutGit, "env"));
  const env = { PATH: withoutGit };
  t.match(await scan(["a.txt"], { node: ["--no-warnings"], env }), { code: 3, stdout: "", stderr: /git/ });
  const outside = join(folder, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "token"), tokenOf(1));
  const scanOutside = (...args: string[]) => coffer(outside, ["scan", ...args], { node: ["--no-warnings"], env });
  t.match(await scanOutside(), { code: 1, stdout: /^token:1:1 / }, "a folder outside of repositories needs no git");
  t.match(await scanOutside("--staged"), { code: 3, stdout: "", stderr: /needs a git repository/ });
  t.match(await scan(["--staged"], { node: ["--no-warnings"], env }), { code: 3, stdout: "", stderr: /git/ });
  const blob = execFileSync("git", ["rev-parse", "HEAD:a.txt"], { cwd: root, encoding: "utf8" }).trim();
  const object = join(root, ".git/objects", blob.slice(0, 2), blob.slice(2));
  chmodSync(object, 0o600);
  writeFileSync(object, "damaged");
  t.match(await scan(["--history"]), { code: 3, stderr: /a\.txt/ });
});

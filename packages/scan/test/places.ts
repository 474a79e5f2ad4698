import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];

/**
 * Makes a repository with a token in each place where one may be in a repository, another token for
 * each. Returns the tokens by the name of the place.
 */
export function plantInPlaces(root: string, tokenOf: (seed: number) => string): Record<string, string> {
  const tokens: Record<string, string> = {};
  const planted = (place: string): string => (tokens[place] ??= tokenOf(1000 + Object.keys(tokens).length));
  const git = (...args: string[]): void =>
    void execFileSync("git", [...identity, ...args], {
      cwd: root,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: "ignore",
    });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const commit = (message: string): void => {
    git("add", "-A");
    git("commit", "-q", "--no-verify", "--allow-empty", "-m", message);
  };
  mkdirSync(root, { recursive: true });
  git("init", "-q", "-b", "main");
  write("vendor/lib/package-lock.json", `{"token": "${planted("a lock file below vendor")}"}\n`);
  write(".config/hidden/app.env", `TOKEN=${planted("a folder with a dot")}\n`);
  write("one-line.js", `${"var a=1;".repeat(400_000)}var t="${planted("a line of megabytes")}";`);
  write("gone.txt", `${planted("a deleted file")}\n`);
  commit("first");
  git("rm", "-q", "gone.txt");
  commit(`message with ${planted("the message of a commit")}`);
  git("checkout", "-q", "-b", "side");
  write("side.txt", `${planted("another branch")}\n`);
  commit("side");
  git("checkout", "-q", "main");
  git("checkout", "-q", "-b", "merged");
  write("other.txt", "other\n");
  commit("other");
  git("checkout", "-q", "main");
  write("main.txt", "main\n");
  commit("main");
  git("merge", "-q", "--no-ff", "--no-commit", "merged");
  write("resolved.txt", `${planted("what a merge adds")}\n`);
  commit("merge");
  git("rm", "-q", "resolved.txt");
  commit("resolved");
  git("tag", "-a", "v1", "-m", `tag ${planted("the message of a tag")}`);
  write("stashed.txt", `${planted("a stash")}\n`);
  git("add", "-A");
  git("stash", "-q");
  write("lost.txt", `${planted("a commit that only the reflog knows")}\n`);
  commit("lost");
  git("reset", "-q", "--hard", "HEAD~1");
  write("indexed.txt", `${planted("the index")}\n`);
  git("add", "indexed.txt");
  write("indexed.txt", "clean\n");
  write("untracked.txt", `${planted("an untracked file")}\n`);
  return tokens;
}

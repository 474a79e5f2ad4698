import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Terminal {
  /** Types, as a person's keyboard would. */
  type(text: string): void;
  /**
   * Waits until the screen shows what the pattern says; returns all that was shown. Throws when the
   * terminal ends.
   */
  shows(pattern: RegExp): Promise<string>;
  /** Waits for the end; returns all that was shown. */
  end(): Promise<string>;
}

interface Teardown {
  teardown(work: () => void): void;
}

/** A real terminal, made by util-linux's `script`, with one shell line running in it. */
export function openTerminal(t: Teardown, line: string, env: NodeJS.ProcessEnv): Terminal {
  const child = spawn("script", ["-qefc", line, "/dev/null"], { env, stdio: ["pipe", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (screen += chunk));
  const ended = once(child, "close");
  return {
    type: (text) => void child.stdin.write(text),
    async shows(pattern) {
      while (!pattern.test(screen)) {
        const over = await Promise.race([once(child.stdout, "data").then(() => false), ended.then(() => true)]);
        if (over && !pattern.test(screen)) throw new Error(`the terminal ended and showed: ${screen}`);
      }
      return screen;
    },
    async end() {
      await ended;
      return screen;
    },
  };
}

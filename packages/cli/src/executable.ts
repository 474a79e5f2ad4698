// The main module of an executable, a script of CommonJS: it has no top-level await.
import { main } from "./main.ts";

/** Node's exit code when a top-level await never ends. */
const neverEnded = 13;

let ended = false;
process.once("exit", (code) => {
  if (!ended && code === 0) process.exitCode = neverEnded;
});
void main(process.argv.slice(2)).then(() => (ended = true));

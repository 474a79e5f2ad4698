// Loaded into the command before it begins (`node --import`): STOPPED_BY, a signal, comes to it
// while the file STOPPED_AT is being written, whatever the machine has to do besides.
import type { PathLike } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate as turn } from "node:timers/promises";

const { STOPPED_BY: signal = "", STOPPED_AT: path } = process.env;
const { rename } = fs;
fs.rename = async (from: PathLike, to: PathLike): Promise<void> => {
  if (to === path) {
    process.kill(process.pid, signal);
    // A signal that is listened for is heard in one of the next turns.
    for (let turns = 0; turns < 3; turns += 1) await turn();
  }
  await rename(from, to);
};
syncBuiltinESMExports();

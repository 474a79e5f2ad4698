// Asks the question of its argument as a reset does, and prints the answer.
import { askYes } from "../src/ask-yes.ts";

process.stdout.write(`answer ${await askYes(process.argv[2] ?? "")}\n`);

// Asks the questions of its arguments as the command does, and prints the answers.
import { askHidden } from "../src/terminal.ts";

process.stdout.write(`answers ${JSON.stringify(askHidden(process.argv.slice(2), "no other way"))}\n`);

// Asks the questions of its arguments as the command does, and prints the answers.
import { promptHidden } from "../src/input/terminal.ts";

process.stdout.write(`answers ${JSON.stringify(promptHidden(process.argv.slice(2), "no other way"))}\n`);

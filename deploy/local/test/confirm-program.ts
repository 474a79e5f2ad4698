// Asks for the confirmation in its argument as a reset does, and prints the answer.
import { isConfirmed } from "../src/confirm.ts";

process.stdout.write(`answer ${await isConfirmed(process.argv[2] ?? "")}\n`);

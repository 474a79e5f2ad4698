import { isatty } from "node:tty";

/** Whether stdin is a person's terminal, and so no data. */
export function stdinIsTerminal(): boolean {
  return isatty(0);
}

import type { CommandRow } from "../command-row.ts";
import type { CommandLine } from "../completion-script.ts";

/** The commands about the command line itself, which `line` returns whole. */
export const shellRows = (line: () => CommandLine): readonly CommandRow[] => [
  {
    name: "completion",
    args: "<shell>",
    summary: "print what completes this command in bash, zsh or fish",
    examples: [
      'eval "$(coffer completion bash)"     in ~/.bashrc',
      'eval "$(coffer completion zsh)"      in ~/.zshrc, after compinit',
      "coffer completion fish > ~/.config/fish/completions/coffer.fish",
    ],
    options: [],
    load: async () => (await import("../commands/completion.ts")).completionOf(line()),
  },
];

import type { CommandRow } from "./command-row.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

interface Word {
  word: string;
  about: string;
}

/** The candidates after a whole command, a partial one (`folder`), or none (``). */
interface Position {
  command: string;
  words: Word[];
  options: (Word & { choices: readonly string[] })[];
}

/** Every command, and the topics of shared first words. */
export interface CommandLine {
  rows: readonly CommandRow[];
  nouns: Readonly<Record<string, string>>;
}

/** The positions of the command line, from its rows. */
function positions({ rows, nouns }: CommandLine): Position[] {
  const start: Position = { command: "", words: [], options: [] };
  const all = new Map([["", start]]);
  for (const { name, summary, options } of rows) {
    const [noun = "", verb] = name.split(" ");
    if (verb !== undefined) {
      const position = all.get(noun) ?? { command: noun, words: [], options: [] };
      if (!all.has(noun)) start.words.push({ word: noun, about: nouns[noun] ?? noun });
      all.set(noun, position);
      position.words.push({ word: verb, about: summary });
    } else start.words.push({ word: name, about: summary });
    all.set(name, { command: name, words: [], options: options.map(optionOf) });
  }
  return [...all.values()];
}

function optionOf({
  flags,
  description,
  choices = [],
}: {
  flags: string;
  description: string;
  choices?: readonly string[];
}) {
  return { word: /--[a-z-]+/.exec(flags)?.[0] ?? flags, about: description, choices };
}

/**
 * A script that completes commands, options and the values of options with a fixed set; anything
 * else as files.
 */
export function completionScript(shell: Shell, line: CommandLine): string {
  const scripts = { bash, zsh, fish };
  return scripts[shell](positions(line));
}

/** Finds the command in the typed words. For shells whose `case` is that of sh. */
function findCommand(all: readonly Position[], words: string): string[] {
  const partial = all.filter(({ command }) => command !== "");
  const top = partial.filter(({ command }) => !command.includes(" ")).map(({ command }) => command);
  const below = partial.filter(({ command }) => command.includes(" ")).map(({ command }) => JSON.stringify(command));
  return [
    "  local command='' word",
    `  for word in ${words}; do`,
    "    [[ $word == -- ]] && return 0",
    '    case "$command" in',
    `      '') case "$word" in ${top.join("|")}) command=$word ;; esac ;;`,
    `      *) case "$command $word" in ${below.join("|")}) command="$command $word" ;; esac ;;`,
    "    esac",
    "  done",
  ];
}

function bash(all: readonly Position[]): string {
  const candidates = all.map(({ command, words, options }) => {
    const list = [...words, ...options].map(({ word }) => word).concat("--help");
    return `    ${JSON.stringify(command)}) candidates='${list.join(" ")}' ;;`;
  });
  return [
    "_coffer() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}" candidates=\'\'',
    ...findCommand(all, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"'),
    '  case "$command $before" in',
    ...choiceCases(all).map(([where, choices]) => `    ${where}) candidates='${choices.join(" ")}' ;;`),
    '    *) case "$command" in',
    ...candidates,
    "    esac ;;",
    "  esac",
    '  COMPREPLY=($(compgen -W "$candidates" -- "$current"))',
    "}",
    "complete -o default -F _coffer coffer",
  ].join("\n");
}

function zsh(all: readonly Position[]): string {
  const quoted = ({ word, about }: Word): string =>
    `'${word}:${about.replaceAll("'", "'\\''").replaceAll(":", "\\:")}'`;
  return [
    "#compdef coffer",
    "_coffer() {",
    "  local -a candidates",
    "  local current=${words[CURRENT]}",
    ...findCommand(all, '"${(@)words[2,CURRENT-1]}"'),
    '  case "$command ${words[CURRENT-1]}" in',
    ...choiceCases(all).map(([where, choices]) => `    ${where}) compadd -- ${choices.join(" ")}; return ;;`),
    "  esac",
    '  case "$command" in',
    ...all.map(({ command, words, options }) => {
      const [partial, given] = [words, options].map((each) => each.map(quoted).join(" "));
      return `    ${JSON.stringify(command)}) if [[ $current == -* ]]; then candidates=(${given}); else candidates=(${partial}); fi ;;`;
    }),
    "  esac",
    "  _describe coffer candidates || _files",
    "}",
    "compdef _coffer coffer",
  ].join("\n");
}

function fish(all: readonly Position[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const commands = all.map(({ command }) => command).filter((command) => command !== "");
  const lines = all.flatMap(({ command, words, options }) => {
    const at = `-n ${quoted(`__coffer_at ${quoted(command)}`)}`;
    return [
      ...words.map(({ word, about }) => `complete -c coffer -f ${at} -a ${word} -d ${quoted(about)}`),
      ...options.map(({ word, about, choices }) => {
        const values = choices.length === 0 ? "" : ` -x -a ${quoted(choices.join(" "))}`;
        return `complete -c coffer ${at} -l ${word.slice(2)} -d ${quoted(about)}${values}`;
      }),
    ];
  });
  return [
    "function __coffer_at",
    "  set -l command ''",
    "  for word in (commandline -opc)[2..]",
    "    test $word = --; and return 1",
    '    set -l longer (string trim -- "$command $word")',
    `    contains -- $longer ${commands.map(quoted).join(" ")}; and set command $longer`,
    "  end",
    "  test $command = $argv[1]",
    "end",
    ...lines,
  ].join("\n");
}

/** `"folder share --permission"` and its choices, as cases. */
function choiceCases(all: readonly Position[]): [string, readonly string[]][] {
  return all.flatMap(({ command, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ word, choices }): [string, readonly string[]] => [JSON.stringify(`${command} ${word}`), choices]),
  );
}

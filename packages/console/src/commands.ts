// Commands to paste. Colleagues choose the names in them, and a shell would run what stands in double quotes.

/** A text as one word of a shell. */
export function shellWord(text: string): string {
  if (/^[\w./:@%+,=-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function rotateCommand(kind: string, name: string): string {
  return `coffer ${kind} rotate ${shellWord(name)}`;
}

export function recordCommand(name: string): string {
  return `coffer record get <vault> ${shellWord(name)}`;
}

export function exportCommand(vault: string, format: string): string {
  return `coffer export --vault ${shellWord(vault)} --format ${format} <file>`;
}

export function importCommand(vault: string): string {
  return `coffer import --vault ${shellWord(vault)} export.json`;
}

const escapes: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#039;": "'",
};
const escape = /&(?:amp|lt|gt|quot|#0?39);/g;

/**
 * Whether all of a file's values were escaped for HTML: some ways out of LastPass do that, and the file does not say so.
 * It was, when there are escapes and nowhere a character that would have been escaped.
 */
export function escapedFile(values: readonly string[]): boolean {
  const all = values.filter((value) => /[&<>]/.test(value));
  return all.length > 0 && all.every((value) => !/[&<>]/.test(value.replace(escape, "")));
}

/** The value as it was before it was escaped. */
export function unescapeHtml(value: string): string {
  return value.replace(escape, (name) => escapes[name] ?? name);
}

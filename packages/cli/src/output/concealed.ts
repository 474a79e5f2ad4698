/** Words of the command line that no message may repeat. */
const concealed = new Set<string>();

/**
 * Stores the words that look like a token, a key or a configuration in a wrong position, because
 * messages may quote arguments and options.
 */
export function concealSecretWords(words: readonly string[]): void {
  concealed.clear();
  for (const word of words.flatMap((each) => [each, each.replace(/^-[^=]*=/, "")]))
    if (looksSecret(word)) concealed.add(word);
}

/** The text with `***` for each concealed word. */
export function withoutSecretWords(text: string): string {
  return [...concealed]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, word) => rest.replaceAll(word, "***").replaceAll(word.toLowerCase(), "***"), text);
}

/**
 * A token or recovery key, a configuration's key, or a long run of base64 with letters of both
 * cases and digits.
 */
function looksSecret(word: string): boolean {
  if (/c(?:ft|fi|fr)1_|private_?key/i.test(word)) return true;
  return [...word.matchAll(/[A-Za-z0-9+=_-]{32,}/g)].some(
    ([run]) => /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run),
  );
}

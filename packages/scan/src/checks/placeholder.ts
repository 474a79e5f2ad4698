const placeholders =
  /example|changeme|your[_-]|dummy|x{4}|0{4}|12345|\$\{\w{0,64}\}|\{\{[^}]{0,64}\}\}|%\w{1,64}%|<[a-z _-]{1,64}>|\*{3}|\.{3}/i;

/** Whether a text stands where a credential will be, as documentation and templates write it. */
export function isPlaceholder(text: string): boolean {
  return placeholders.test(text) || isRepeated(text);
}

/** At most three different characters in a text of at least 12. */
function isRepeated(text: string): boolean {
  return text.length >= 12 && new Set(text).size <= 3;
}

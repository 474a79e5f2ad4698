/**
 * The form in which names and titles are compared without regard to case. It unites compatible
 * forms of a letter, upper and lower case, and the two lower-case forms of the Greek sigma. Folding
 * is idempotent. It is computed here and stored, so that equality does not depend on a database's
 * locale or version.
 */
export function foldCase(text: string): string {
  // The second NFKC composes again: some accented letters exist as one character in lower case
  // only.
  return text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

/**
 * The form in which names and titles are compared without regard to case: compatible forms of a letter are one, upper
 * and lower case are, and so are the two forms of the Greek sigma, of which the lower case depends on its place in a
 * word. Folding what is folded changes nothing. Made here and stored, so that neither a database's locale nor its
 * version decides what is equal.
 */
export function foldCase(text: string): string {
  // Composed again after: some letters with a mark exist as one character in lower case only.
  return text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

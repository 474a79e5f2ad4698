/**
 * The form in which names and titles are compared without regard to case. Made here and stored, so that neither a
 * database's locale nor its version decides what is equal.
 */
export function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

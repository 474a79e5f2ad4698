/** Compares names like the service: NFKC, without regard to case. */
export function folded(name: string): string {
  return name.normalize("NFKC").toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

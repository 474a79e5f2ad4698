import { parse } from "csv-parse/browser/esm/sync";

/** A scheme; in a rule it follows `^`. */
const scheme = /\^?[a-z][a-z\d+.-]*:\/\//;
/** A host name with a dot, four numbers, or `localhost`, up to the end of the host. */
const host = /(?:[^\s,/?#]+\.[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3}|localhost)(?::\d+)?(?:[,/?#]|$)/;
const parting = new RegExp(`,(?=${scheme.source}|${host.source})`, "i");

/**
 * The addresses of one cell. Bitwarden joins them with commas and quotes nothing, so a comma
 * separates them only before an address: a scheme, or a host. Quoted addresses are read as a CSV
 * row.
 */
export function splitUris(cell: string): string[] {
  if (cell.includes('"')) {
    try {
      return parse(cell).flat();
    } catch {
      // Then the quotation marks are part of the address.
    }
  }
  return cell.split(parting).filter((uri) => uri !== "");
}

/** The cell for these addresses, as `splitUris` and Bitwarden read it. */
export function joinUris(uris: readonly string[]): string {
  const quoted = uris.map((uri) => (/[",\r\n]/.test(uri) ? `"${uri.replaceAll('"', '""')}"` : uri));
  const plain = quoted.join(",");
  // If it is not read back, as with a host without a dot, all are quoted.
  const same = splitUris(plain).join("\n") === uris.join("\n");
  return same ? plain : uris.map((uri) => `"${uri.replaceAll('"', '""')}"`).join(",");
}

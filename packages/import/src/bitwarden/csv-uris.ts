import { parse } from "csv-parse/browser/esm/sync";

/** A scheme; in a rule it stands behind `^`. */
const scheme = /\^?[a-z][a-z\d+.-]*:\/\//;
/** A host's name with a dot, four numbers, or `localhost`, up to where a host ends. */
const host = /(?:[^\s,/?#]+\.[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3}|localhost)(?::\d+)?(?:[,/?#]|$)/;
const parting = new RegExp(`,(?=${scheme.source}|${host.source})`, "i");

/**
 * The addresses of one cell. Bitwarden joins them by commas and quotes nothing, so a comma parts them only where an
 * address begins after it: a scheme, or a host. Addresses in quotation marks are read as a row.
 */
export function splitUris(cell: string): string[] {
  if (cell.includes('"')) {
    try {
      return parse(cell).flat();
    } catch {
      // Then the marks are part of the address.
    }
  }
  return cell.split(parting).filter((uri) => uri !== "");
}

/** The cell for these addresses: what `splitUris` and Bitwarden read as them. */
export function joinUris(uris: readonly string[]): string {
  const marked = uris.map((uri) => (/[",\r\n]/.test(uri) ? `"${uri.replaceAll('"', '""')}"` : uri));
  const plain = marked.join(",");
  // Where it is not read back so, as with a host that has no dot, all are marked.
  const same = splitUris(plain).join("\n") === uris.join("\n");
  return same ? plain : uris.map((uri) => `"${uri.replaceAll('"', '""')}"`).join(",");
}

import { parseXml, XmlDocumentType, XmlElement, XmlError } from "@rgrove/parse-xml";
import { ImportError } from "../import-error.ts";
import { stackEnded } from "../stack-ended.ts";

/**
 * Parses an XML document and returns its root. Refuses a document type: no export needs one, and
 * attacks use its entities to exhaust memory or to read files. Throws ImportError `refused`,
 * `broken` with the line; quotes nothing.
 */
export function readXml(text: string): XmlElement {
  try {
    const { children } = parseXml(text, { preserveDocumentType: true });
    if (children.some((node) => node instanceof XmlDocumentType)) throw doctype();
    const root = children.find((node) => node instanceof XmlElement);
    if (root !== undefined) return root;
  } catch (error) {
    if (error instanceof ImportError) throw error;
    if (!(error instanceof XmlError) && !stackEnded(error)) throw error;
    // The error may be an entity that the document type would define.
    if (error instanceof XmlError && text.slice(0, error.pos).includes("<!DOCTYPE")) throw doctype();
    const at = error instanceof XmlError ? ` at line ${error.line}` : ": it is nested too deeply";
    throw new ImportError("broken", `the XML is broken${at}`);
  }
  throw new ImportError("broken", "the XML has no element");
}

function doctype(): ImportError {
  return new ImportError("refused", "the XML has a document type (DOCTYPE), which no export has: it is not read");
}

/** The child elements. */
export function elementsOf(parent: XmlElement | undefined): XmlElement[] {
  return parent?.children.filter((node) => node instanceof XmlElement) ?? [];
}

/** The child elements of that name. */
export function childrenOf(parent: XmlElement | undefined, name: string): XmlElement[] {
  return elementsOf(parent).filter((node) => node.name === name);
}

/** The first child element of that name. */
export function childOf(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenOf(parent, name)[0];
}

/** The text of the first child element of that name; empty without one. */
export function textOf(parent: XmlElement | undefined, name: string): string {
  return childOf(parent, name)?.text ?? "";
}

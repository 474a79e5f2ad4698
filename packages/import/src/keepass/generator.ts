import type { XmlElement } from "@rgrove/parse-xml";
import { elementsOf, textOf } from "../xml/read-xml.ts";
import { element, textElement } from "../xml/write-xml.ts";

const generator = "Coffer";

/** The complete metadata of a file of ours. */
export const ownMeta = element("Meta", textElement("Generator", generator) + textElement("RecycleBinEnabled", "False"));

/**
 * Whether we wrote a file, by its metadata. Another program that has read one may still name us as
 * the generator, but writes much more metadata.
 */
export function isOurs(meta: XmlElement | undefined): boolean {
  return textOf(meta, "Generator") === generator && elementsOf(meta).length === 2;
}

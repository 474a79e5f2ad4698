import type { XmlElement } from "@rgrove/parse-xml";
import { elementsOf, textOf } from "../xml/read-xml.ts";
import { element, textElement } from "../xml/write-xml.ts";

const generator = "Coffer";

/** What a file of ours says of itself, and no more. */
export const ownMeta = element("Meta", textElement("Generator", generator) + textElement("RecycleBinEnabled", "False"));

/**
 * Whether a file was written by us, by what it says of itself. A program that has read one may go on naming us as the one
 * who made the database; it says far more of it.
 */
export function isOurs(meta: XmlElement | undefined): boolean {
  return textOf(meta, "Generator") === generator && elementsOf(meta).length === 2;
}

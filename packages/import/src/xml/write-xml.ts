/** An element with its attributes and inner XML. */
export function element(name: string, inner: string, attributes: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  return `<${name}${given.join("")}>${inner}</${name}>`;
}

/** An element with a text in it. */
export function textElement(name: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  return element(name, escapeXml(text), attributes);
}

/**
 * Whether XML 1.0 can hold the text: no control characters but tab and line breaks, and no unpaired
 * surrogates.
 */
export function fitsXml(text: string): boolean {
  return text.isWellFormed() && !/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text);
}

function escapeXml(text: string): string {
  // A raw carriage return would be read as a line feed, and white space at the edges would be lost.
  return text.replace(/[&<>"\r\t\n]/g, (character) => {
    if (character === "\n") return "\n";
    return `&#${character.codePointAt(0) ?? 0};`;
  });
}

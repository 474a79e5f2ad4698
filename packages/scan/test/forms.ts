import { gzipSync } from "node:zlib";

const escaped = (text: string, write: (code: number) => string): string =>
  Array.from(text, (sign) => write(sign.charCodeAt(0))).join("");
const hex = (code: number): string => code.toString(16).padStart(2, "0");
const base64 = (input: string | Buffer): string => Buffer.from(input).toString("base64");
const wide = (text: string, write: (buffer: Buffer, code: number) => unknown): Buffer =>
  Buffer.concat(
    Array.from(text, (sign) => {
      const buffer = Buffer.alloc(4);
      write(buffer, sign.codePointAt(0) ?? 0);
      return buffer;
    }),
  );
const twice = (times: number, text: string): string => (times === 0 ? text : twice(times - 1, base64(text)));

/** A token in every form in which files hold one, by the name of the form. */
export function formsOf(token: string): Record<string, string | Buffer> {
  const line = `first line\nToken = "${token}" # ü\n`;
  return {
    plain: line,
    "UTF-8 with a byte order mark": `\ufeff${line}`,
    "base64 of the token": `x = "${base64(token)}"`,
    "base64 without padding": base64(token).replace(/=/g, ""),
    "base64 of a text": base64(line),
    "url-safe base64": Buffer.from(`??>>${line}`).toString("base64url"),
    "base64 twice": twice(2, line),
    "base64 four times": twice(4, line),
    "base64 at an odd offset": `x${base64(token)}`,
    "base64 between other characters": `abc${base64(token)}zz`,
    "base64 inside a larger run": base64(`${"some text ".repeat(9)}${token} and more`),
    "base64 in lines of 76": `data: |\n  ${base64(`${"padding ".repeat(20)}${line}`).replace(/.{76}/g, "$&\r\n  ")}`,
    "base64 in short lines": base64(line).replace(/.{30}/g, "$&\n"),
    "base64 in a JSON string with line breaks": JSON.stringify(base64(line).replace(/.{40}/g, "$&\n")),
    "base64 of UTF-16": base64(Buffer.from(line, "utf16le")),
    "base64 of gzip": base64(gzipSync(line)),
    hexadecimal: Buffer.from(line).toString("hex"),
    "hexadecimal in capitals": `tok=${Buffer.from(token).toString("hex").toUpperCase()};`,
    percent: `a=${escaped(token, (code) => `%${hex(code)}`)}&b`,
    "percent twice": `a=${encodeURIComponent(escaped(token, (code) => `%${hex(code)}`))}&b`,
    "\\uXXXX": `"${escaped(token, (code) => `\\u00${hex(code)}`)}"`,
    "one \\uXXXX": `"${token.slice(0, 7)}${escaped(token.slice(7, 8), (code) => `\\u00${hex(code)}`)}${token.slice(8)}"`,
    "\\u{X}": `"${escaped(token, (code) => `\\u{${hex(code)}}`)}"`,
    "JSON inside JSON": JSON.stringify(JSON.stringify({ a: escaped(token, (code) => `\\u00${hex(code)}`) })),
    "\\xXX": `$'${escaped(token, (code) => `\\x${hex(code)}`)}'`,
    octal: `$'${escaped(token, (code) => `\\${code.toString(8).padStart(3, "0")}`)}'`,
    "behind \\n": JSON.stringify({ a: `line\n${token}\nline` }),
    HTML: escaped(token, (code) => `&#${code};`),
    "HTML in hexadecimal": escaped(token, (code) => `&#x${hex(code)};`),
    "UTF-16LE with a byte order mark": Buffer.from(`\ufeff${line}`, "utf16le"),
    "UTF-16BE with a byte order mark": Buffer.from(`\ufeff${line}`, "utf16le").swap16(),
    "UTF-16LE": Buffer.from(line, "utf16le"),
    "UTF-16BE": Buffer.from(line, "utf16le").swap16(),
    "UTF-32LE with a byte order mark": wide(`\ufeff${line}`, (buffer, code) => buffer.writeUInt32LE(code)),
    "UTF-32BE": wide(line, (buffer, code) => buffer.writeUInt32BE(code)),
    "a terminal's colours": `\u001b[31m${token}\u001b[0m`,
    "percent in base64": base64(escaped(`the token ${token}`, (code) => `%${hex(code)}`)),
  };
}

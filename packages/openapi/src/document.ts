import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** Any value of a YAML document. */
export type Node = null | boolean | number | string | Node[] | { [name: string]: Node };
export type Mapping = Record<string, Node>;

/** Keywords beside a `$ref` that override the referenced ones. */
const besides = new Set(["description", "summary", "title", "examples", "default", "deprecated"]);

/**
 * Reads a YAML document and replaces its references (`file#/pointer`, also in other files) by their
 * targets. Several references to one target share one object.
 * @throws Error for an unreadable file, a missing target, a circle, or a keyword beside a reference
 *   that changes its meaning.
 */
export function readDocument(file: URL): Mapping {
  const files = new Map<string, Node>();
  const found = new Map<string, Node>();
  const underway = new Set<string>();

  const load = (url: URL): Node => {
    const known = files.get(url.href);
    if (known !== undefined) return known;
    const content = parse(readFileSync(url, "utf8")) as Node; // any YAML value
    files.set(url.href, content);
    return content;
  };

  const resolve = (reference: string, from: URL): Node => {
    const target = new URL(reference, from);
    const known = found.get(target.href);
    if (known !== undefined) return known;
    if (underway.has(target.href)) throw new Error(`${from.pathname}: ${reference} refers to itself`);
    underway.add(target.href);
    const bare = new URL(target);
    bare.hash = "";
    const node = at(load(bare), decodeURIComponent(target.hash.slice(1)));
    if (node === undefined) throw new Error(`${from.pathname}: nothing is at ${reference}`);
    const value = replaced(node, bare);
    underway.delete(target.href);
    found.set(target.href, value);
    return value;
  };

  const replaced = (node: Node, from: URL): Node => {
    if (Array.isArray(node)) return node.map((item) => replaced(item, from));
    if (!isMapping(node)) return node;
    const { $ref, ...beside } = node;
    if (typeof $ref !== "string") return mapped(node, (value) => replaced(value, from));
    const wrong = Object.keys(beside).find((name) => !besides.has(name));
    if (wrong !== undefined) throw new Error(`${from.pathname}: ${wrong} stands beside the reference ${$ref}`);
    const value = resolve($ref, from);
    return isMapping(value) && Object.keys(beside).length > 0 ? { ...value, ...beside } : value;
  };

  const document = replaced(load(file), file);
  if (!isMapping(document)) throw new Error(`${file.pathname} is no document`);
  return document;
}

/** Whether a value is an object. */
export function isMapping(node: unknown): node is Mapping {
  return typeof node === "object" && node !== null && !Array.isArray(node);
}

/** An object with the same names and other values. */
export function mapped(node: Mapping, change: (value: Node, name: string) => Node): Mapping {
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value, name)]));
}

/** The target of a JSON pointer; undefined without one. */
function at(root: Node, pointer: string): Node | undefined {
  let node: Node | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    node = isMapping(node) ? node[name] : Array.isArray(node) ? node[Number(name)] : undefined;
  }
  return node;
}

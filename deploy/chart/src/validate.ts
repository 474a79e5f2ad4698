import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { KubernetesObject } from "./kubernetes.ts";
import { tools } from "./paths.ts";

/** The models of each API group, below node_modules. */
const modelFolders: Readonly<Record<string, string>> = {
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "keda.sh": "@kubernetes-models/keda",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

const clientModels = join(tools, "node_modules/@kubernetes/client-node/dist/gen/models");

interface Attribute {
  baseName: string;
  type: string;
}

/**
 * The faults of an object: values that its schema refuses, and unknown fields, which a server drops
 * silently. Throws Error for a kind without a model.
 */
export async function problemsOf(object: KubernetesObject): Promise<string[]> {
  const name = `${object.kind} ${object.metadata.name}`;
  const { invalid, unread } = await checkModel(object);
  const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
  const unknown = Object.hasOwn(modelFolders, group) ? unread : await unknownFields(object, await typeOf(object), "");
  return [...invalid, ...unknown.map((path) => `${path} is not known`)].map((problem) => `${name}: ${problem}`);
}

interface Validate {
  (data: unknown): boolean;
  errors?: { instancePath: string; message?: string }[] | null;
}

/** Validates an object by its schema, and notes the properties that the schema has not read. */
async function checkModel(object: KubernetesObject): Promise<{ invalid: string[]; unread: string[] }> {
  const validate = await schemaOf(object);
  const read = new Set<string>();
  if (!validate(watched(object, "", read))) {
    const errors = validate.errors ?? [];
    return { invalid: errors.map(({ instancePath, message = "" }) => `${instancePath} ${message}`), unread: [] };
  }
  return { invalid: [], unread: unreadIn(object, "", read).filter((path) => !path.startsWith(".metadata.")) };
}

/** The compiled schema of a kind, which its model imports. */
async function schemaOf({ apiVersion, kind }: KubernetesObject): Promise<Validate> {
  const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const folder = join(tools, "node_modules", modelFolders[group] ?? "kubernetes-models", group, version);
  const file = join(folder, `${kind}.js`);
  if (!existsSync(file)) throw new Error(`no model of ${apiVersion} ${kind}`);
  const schema = /from"((?:\.\.?\/)+_schemas\/[^"]+)"/.exec(readFileSync(file, "utf8"))?.[1];
  if (schema === undefined) throw new Error(`${file} imports no schema`);
  const { validate } = (await import(pathToFileURL(join(folder, schema)).href)) as { validate: Validate };
  return validate;
}

/** A value that records the path of each property that is read. */
function watched(value: unknown, path: string, read: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      if (typeof key === "symbol" || typeof found === "function") return found;
      const inner = `${path}.${key}`;
      read.add(inner);
      return watched(found, inner, read);
    },
  });
}

function unreadIn(value: unknown, path: string, read: ReadonlySet<string>): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${path}.${key}`;
    return read.has(here) ? unreadIn(inner, here, read) : [here];
  });
}

/** The name of the client's model of a kind. */
async function typeOf({ apiVersion, kind }: KubernetesObject): Promise<string> {
  const version = apiVersion.split("/").at(-1) ?? "";
  const name = `${version.charAt(0).toUpperCase()}${version.slice(1)}${kind}`;
  if ((await attributesOf(name)) === null) throw new Error(`the client has no model ${name}`);
  return name;
}

/** The paths of unknown fields of a type, and of those with another type. */
async function unknownFields(value: unknown, type: string, path: string): Promise<string[]> {
  const element = /^Array<(.+)>$/.exec(type)?.[1];
  if (element !== undefined) {
    if (!Array.isArray(value)) return [`${path} as no list`];
    return collect(value.map((inner, index) => unknownFields(inner, element, `${path}[${index}]`)));
  }
  const member = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  if (member !== undefined) {
    if (typeof value !== "object" || value === null) return [`${path} as no map`];
    return collect(Object.entries(value).map(([key, inner]) => unknownFields(inner, member, `${path}.${key}`)));
  }
  if (type === "IntOrString") return ["string", "number"].includes(typeof value) ? [] : [`${path} as ${typeof value}`];
  if (["string", "number", "boolean"].includes(type))
    return typeof value === type ? [] : [`${path} as ${typeof value}`];
  if (type === "any") return [];
  const attributes = await attributesOf(type);
  if (attributes === null) throw new Error(`the client has no model ${type}`);
  if (typeof value !== "object" || value === null) return [`${path} as no map`];
  return collect(
    Object.entries(value).map(([key, inner]) => {
      const attribute = attributes.find(({ baseName }) => baseName === key);
      const here = `${path}.${key}`;
      return attribute === undefined ? Promise.resolve([here]) : unknownFields(inner, attribute.type, here);
    }),
  );
}

async function collect(found: Promise<string[]>[]): Promise<string[]> {
  return (await Promise.all(found)).flat();
}

const known = new Map<string, Promise<Attribute[] | null>>();

function attributesOf(type: string): Promise<Attribute[] | null> {
  let found = known.get(type);
  if (found === undefined) {
    found = loadAttributes(type);
    known.set(type, found);
  }
  return found;
}

async function loadAttributes(type: string): Promise<Attribute[] | null> {
  const file = join(clientModels, `${type}.js`);
  if (!existsSync(file)) return null;
  const models = (await import(pathToFileURL(file).href)) as Record<
    string,
    { getAttributeTypeMap(): Attribute[] } | undefined
  >;
  return models[type]?.getAttributeTypeMap() ?? null;
}

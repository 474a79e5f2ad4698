import protobuf from "protobufjs";
import { z } from "zod";

// An export of traces as the OpenTelemetry Protocol 1.x defines it, in protobuf or in JSON:
// https://opentelemetry.io/docs/specs/otlp/ and opentelemetry/proto/trace/v1/trace.proto.

/** A span as it was exported, with its attributes as an object. */
export interface SentSpan {
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer */
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
  /** `code`: 0 unset, 1 ok, 2 error */
  status: { code: number };
  /** The attributes of the process that made it. */
  resource: Record<string, unknown>;
}

type Fields = Record<string, protobuf.IField & { rule?: "repeated" }>;

const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ type, id, rule: "repeated" as const });
const message = (fields: Fields): protobuf.IType => ({ fields });
const attributesAt = (id: number) => ({
  attributes: many("KeyValue", id),
  droppedAttributesCount: one("uint32", id + 1),
});

const request = protobuf.Root.fromJSON({
  nested: {
    ExportTraceServiceRequest: message({ resourceSpans: many("ResourceSpans", 1) }),
    ResourceSpans: message({
      resource: one("Resource", 1),
      scopeSpans: many("ScopeSpans", 2),
      schemaUrl: one("string", 3),
    }),
    Resource: message(attributesAt(1)),
    ScopeSpans: message({ scope: one("Scope", 1), spans: many("Span", 2), schemaUrl: one("string", 3) }),
    Scope: message({ name: one("string", 1), version: one("string", 2), ...attributesAt(3) }),
    Span: message({
      traceId: one("bytes", 1),
      spanId: one("bytes", 2),
      traceState: one("string", 3),
      parentSpanId: one("bytes", 4),
      name: one("string", 5),
      kind: one("int32", 6),
      startTimeUnixNano: one("fixed64", 7),
      endTimeUnixNano: one("fixed64", 8),
      ...attributesAt(9),
      events: many("Event", 11),
      droppedEventsCount: one("uint32", 12),
      links: many("Link", 13),
      droppedLinksCount: one("uint32", 14),
      status: one("Status", 15),
      flags: one("fixed32", 16),
    }),
    Event: message({ timeUnixNano: one("fixed64", 1), name: one("string", 2), ...attributesAt(3) }),
    Link: message({
      traceId: one("bytes", 1),
      spanId: one("bytes", 2),
      traceState: one("string", 3),
      ...attributesAt(4),
      flags: one("fixed32", 6),
    }),
    Status: message({ message: one("string", 2), code: one("int32", 3) }),
    KeyValue: message({ key: one("string", 1), value: one("AnyValue", 2) }),
    AnyValue: message({
      stringValue: one("string", 1),
      boolValue: one("bool", 2),
      intValue: one("int64", 3),
      doubleValue: one("double", 4),
      arrayValue: one("ArrayValue", 5),
      kvlistValue: one("KeyValueList", 6),
      bytesValue: one("bytes", 7),
    }),
    ArrayValue: message({ values: many("AnyValue", 1) }),
    KeyValueList: message({ values: many("KeyValue", 1) }),
  },
}).lookupType("ExportTraceServiceRequest");

/** Hexadecimal in JSON, bytes in protobuf; all zeros is no id. */
const idOf = (bytes: number) =>
  z
    .union([z.string(), z.instanceof(Uint8Array).transform((raw) => Buffer.from(raw).toString("hex"))])
    .refine((id) => new RegExp(`^[0-9a-f]{${2 * bytes}}$`).test(id), `an id of ${bytes} bytes`)
    .refine((id) => !/^0+$/.test(id), "not all zeros");

const count = z.number().int().min(0).max(0xffff_ffff).default(0);
/** Nanoseconds since 1970, text because of its size; the SDK's JSON writes small numbers as numbers. */
const time = z
  .union([z.string().regex(/^[1-9]\d*$/), z.number().int().positive()])
  .transform((nanoseconds) => BigInt(nanoseconds));
const anyValue = z
  .strictObject({
    stringValue: z.string().optional(),
    boolValue: z.boolean().optional(),
    intValue: z.union([z.number().int(), z.string().regex(/^-?\d+$/)]).optional(),
    doubleValue: z.number().optional(),
    arrayValue: z.unknown().optional(),
    kvlistValue: z.unknown().optional(),
    bytesValue: z.unknown().optional(),
  })
  .refine((value) => Object.keys(value).length === 1, "one value")
  .transform(({ intValue, ...rest }) => (intValue === undefined ? Object.values(rest)[0] : Number(intValue)));
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: anyValue }))
  .default([])
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, "each key once")
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, value])));
const described = { attributes, droppedAttributesCount: count };
const linked = {
  traceId: idOf(16),
  spanId: idOf(8),
  traceState: z.string().optional(),
  flags: count,
};

const span = z
  .strictObject({
    ...linked,
    ...described,
    parentSpanId: z.union([z.literal(""), idOf(8)]).default(""),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    events: z.array(z.strictObject({ timeUnixNano: time, name: z.string().min(1), ...described })).default([]),
    droppedEventsCount: count,
    links: z.array(z.strictObject({ ...linked, ...described })).default([]),
    droppedLinksCount: count,
    status: z
      .strictObject({ message: z.string().optional(), code: z.number().int().min(0).max(2).default(0) })
      .default({ code: 0 }),
  })
  .refine((each) => each.endTimeUnixNano >= each.startTimeUnixNano, "it ends after it starts");

const exported = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject(described).refine((resource) => "service.name" in resource.attributes, "service.name"),
        schemaUrl: z.string().optional(),
        scopeSpans: z.array(
          z.strictObject({
            scope: z.strictObject({ name: z.string(), version: z.string().optional(), ...described }),
            spans: z.array(span),
            schemaUrl: z.string().optional(),
          }),
        ),
      }),
    )
    .default([]),
});

/**
 * Reads an export of traces.
 * @param type the request's Content-Type
 * @param body decompressed
 * @returns every span
 * @throws an error that names the first deviation from the protocol
 */
export function readTraceRequest(type: string, body: Uint8Array): SentSpan[] {
  return exported.parse(messageOf(type, body)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId, attributes: own, status }) => ({
        ...{ name, kind, traceId, spanId, parentSpanId, attributes: own },
        status: { code: status.code },
        resource: resource.attributes,
      })),
    ),
  );
}

function messageOf(type: string, body: Uint8Array): unknown {
  if (type === "application/x-protobuf") return request.toObject(request.decode(body), { longs: String });
  if (type === "application/json") return JSON.parse(Buffer.from(body).toString());
  throw new Error(`the protocol has no content type ${JSON.stringify(type)}`);
}

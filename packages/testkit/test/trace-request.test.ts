import t from "tap";
import { readTraceRequest } from "../src/trace-request.ts";

const span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "GET /api/vaults",
  kind: 2,
  startTimeUnixNano: "1764000000000000000",
  endTimeUnixNano: "1764000000000000001",
  attributes: [{ key: "http.response.status_code", value: { intValue: 200 } }],
};
const resource = { attributes: [{ key: "service.name", value: { stringValue: "vaults" } }] };
const read = (changes: object, about: object = resource) => {
  const scopeSpans = [{ scope: { name: "coffer" }, spans: [{ ...span, ...changes }] }];
  const body = JSON.stringify({ resourceSpans: [{ resource: about, scopeSpans }] });
  return readTraceRequest("application/json", Buffer.from(body));
};

void t.test("a span is read with its attributes as an object", (t) => {
  t.match(read({}), [
    {
      name: "GET /api/vaults",
      parentSpanId: "",
      attributes: { "http.response.status_code": 200 },
      status: { code: 0 },
      resource: { "service.name": "vaults" },
    },
  ]);
  t.end();
});

const deviations: Record<string, object> = {
  "a short trace id": { traceId: "0af7" },
  "a trace id of zeros": { traceId: "0".repeat(32) },
  "a trace id in base64": { traceId: "CvdlGRbNQ92ESOshHIAxnA==" },
  "a short parent id": { parentSpanId: "b7ad" },
  "no name": { name: "" },
  "an unknown kind": { kind: 6 },
  "no start": { startTimeUnixNano: "0" },
  "an end before the start": { endTimeUnixNano: "1763999999999999999" },
  "a key twice": { attributes: [...span.attributes, ...span.attributes] },
  "an empty key": { attributes: [{ key: "", value: { stringValue: "x" } }] },
  "two values of a key": { attributes: [{ key: "x", value: { stringValue: "x", boolValue: true } }] },
  "an unknown status": { status: { code: 3 } },
  "an unknown field": { parentId: "b7ad6b7169203331" },
};

for (const [title, changes] of Object.entries(deviations))
  void t.test(`${title} is refused`, (t) => {
    t.throws(() => read(changes));
    t.end();
  });

void t.test("a resource without service.name is refused", (t) => {
  t.throws(() => read({}, { attributes: [] }), /service\.name/);
  t.end();
});

void t.test("what is no message is refused, and so is another content type", (t) => {
  t.throws(() => readTraceRequest("application/x-protobuf", Buffer.from([0x0a, 0x05, 0x01])));
  t.throws(() => readTraceRequest("text/plain", Buffer.from("{}")), /no content type "text\/plain"/);
  t.end();
});

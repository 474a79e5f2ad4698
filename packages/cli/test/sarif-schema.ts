// The parts of the OASIS schema of SARIF 2.1.0 that a report of ours may have. Every object is closed, as there, so that a
// member that SARIF does not know fails.
const object = (required: readonly string[], properties: Record<string, unknown>) => ({
  type: "object",
  additionalProperties: false,
  required,
  properties: { ...properties, properties: { type: "object" } },
});
const text = { type: "string" };
const uri = { type: "string", format: "uri" };
const list = (items: unknown) => ({ type: "array", items });
const message = object(["text"], { text });
const artifactLocation = object(["uri"], { uri: { type: "string", format: "uri-reference" }, uriBaseId: text });
const count = { type: "integer", minimum: 1 };
const region = object(["startLine"], {
  startLine: count,
  startColumn: count,
  endLine: count,
  endColumn: count,
  snippet: object(["text"], { text }),
});
const location = object(["physicalLocation"], {
  physicalLocation: object(["artifactLocation"], { artifactLocation, region }),
});
const level = { enum: ["none", "note", "warning", "error"] };

export const sarifSchema = object(["version", "runs", "$schema"], {
  $schema: uri,
  version: { const: "2.1.0" },
  runs: list(
    object(["tool", "results"], {
      tool: object(["driver"], {
        driver: object(["name"], {
          name: text,
          semanticVersion: text,
          rules: list(
            object(["id"], {
              id: text,
              shortDescription: message,
              fullDescription: message,
              helpUri: uri,
              help: message,
            }),
          ),
        }),
      }),
      columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
      originalUriBaseIds: {
        type: "object",
        additionalProperties: object([], { uri: text, description: message }),
      },
      invocations: list(
        object(["executionSuccessful"], {
          executionSuccessful: { type: "boolean" },
          toolExecutionNotifications: list(object(["message"], { level, message, locations: list(location) })),
        }),
      ),
      results: list(
        object(["message", "ruleId", "locations"], {
          ruleId: text,
          ruleIndex: { type: "integer", minimum: 0 },
          level,
          message,
          locations: { ...list(location), minItems: 1 },
          partialFingerprints: { type: "object", additionalProperties: text },
        }),
      ),
    }),
  ),
});

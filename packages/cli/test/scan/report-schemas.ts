import { createRequire } from "node:module";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";

const require = createRequire(import.meta.url);

/** Says what of a log does not fit the JSON schema of SARIF 2.1.0, as OASIS publishes it. */
export function sarifProblems(log: unknown): string[] {
  validateSarif ??= sarifValidator();
  if (validateSarif(log)) return [];
  return (validateSarif.errors ?? []).map(({ instancePath, message = "" }) => `${instancePath} ${message}`);
}

let validateSarif: ReturnType<Ajv["compile"]> | undefined;

function sarifValidator(): ReturnType<Ajv["compile"]> {
  // Draft 4 of JSON schema, of which it uses nothing that a later draft reads in another way.
  const file = "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json";
  const { $schema: _draft, id: _id, ...schema } = require(file) as Record<string, unknown>;
  // One of its patterns is none in Unicode mode.
  const ajv = new Ajv({ allErrors: true, strict: false, unicodeRegExp: false });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

interface XmlValidation {
  valid: boolean;
  errors: { rawMessage: string }[];
}

/** Says why an XML document is not well-formed, or not what programs that read JUnit's reports accept. */
export async function junitProblems(xml: string): Promise<string[]> {
  const { validateXML } = require("xmllint-wasm") as {
    validateXML: (input: { xml: object[]; schema: string[] }) => Promise<XmlValidation>;
  };
  const { valid, errors } = await validateXML({
    xml: [{ fileName: "report.xml", contents: xml }],
    schema: [junitSchema],
  });
  return valid ? [] : errors.map(({ rawMessage }) => rawMessage);
}

/**
 * What Jenkins, GitLab and Azure Pipelines agree on: names, counts, and a failure or error inside
 * its case.
 */
const junitSchema = `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="outcome" mixed="true">
    <xs:attribute name="message" type="xs:string"/>
    <xs:attribute name="type" type="xs:string"/>
  </xs:complexType>
  <xs:complexType name="case">
    <xs:choice minOccurs="0" maxOccurs="1">
      <xs:element name="failure" type="outcome"/>
      <xs:element name="error" type="outcome"/>
      <xs:element name="skipped" type="outcome"/>
    </xs:choice>
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="classname" type="xs:string" use="required"/>
    <xs:attribute name="time" type="xs:decimal"/>
  </xs:complexType>
  <xs:complexType name="suite">
    <xs:sequence>
      <xs:element name="testcase" type="case" minOccurs="1" maxOccurs="unbounded"/>
    </xs:sequence>
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="tests" type="xs:unsignedInt" use="required"/>
    <xs:attribute name="failures" type="xs:unsignedInt" use="required"/>
    <xs:attribute name="errors" type="xs:unsignedInt" use="required"/>
    <xs:attribute name="time" type="xs:decimal"/>
  </xs:complexType>
  <xs:element name="testsuites">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="testsuite" type="suite" minOccurs="1" maxOccurs="unbounded"/>
      </xs:sequence>
    </xs:complexType>
  </xs:element>
</xs:schema>`;

import { nodeVersion } from "./node-package.ts";

interface Component {
  "bom-ref": string;
  type: string;
  name: string;
  version: string;
  purl: string;
}

interface Bill {
  metadata: { component: { "bom-ref": string } };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** The bill of materials of the command's package, with the Node that an executable contains besides. */
export function addNode(text: string): string {
  const bill = JSON.parse(text) as Bill; // npm sbom wrote it
  const version = nodeVersion();
  const ref = `node@${version}`;
  bill.components.push({
    "bom-ref": ref,
    type: "platform",
    name: "node",
    version,
    purl: `pkg:generic/node@${version}`,
  });
  const root = bill.metadata.component["bom-ref"];
  bill.dependencies.find((each) => each.ref === root)?.dependsOn.push(ref);
  bill.dependencies.push({ ref, dependsOn: [] });
  return `${JSON.stringify(bill, null, 2)}\n`;
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import t from "tap";
import { parse } from "yaml";
import { checkout } from "../../local/src/checkout.ts";
import { presentServices } from "../../local/src/services/services.ts";

interface Artifact {
  image: string;
  docker: { dockerfile: string; buildArgs: { SERVICE: string } };
}
interface Skaffold {
  apiVersion: string;
  build: { artifacts: Artifact[] };
  deploy: {
    helm: { releases: { chartPath: string; valuesFiles: string[]; setValueTemplates: Record<string, string> }[] };
  };
  portForward: { resourceName: string }[];
  profiles: { name: string; patches?: { op: string; path: string; value?: unknown }[] }[];
}

const file = parse(readFileSync(join(checkout, "skaffold.yaml"), "utf8")) as Skaffold; // the schema below checks it
const names: string[] = presentServices().map(({ name }) => name);

await t.test("skaffold.yaml is valid by Skaffold's schema", (t) => {
  // The schema in this folder is v4beta13; the fields of this file are in both versions.
  t.equal(file.apiVersion, "skaffold/v4beta14");
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, "schemas/skaffold-v4beta13.json"), "utf8"),
  ) as object;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  t.ok(validate({ ...file, apiVersion: "skaffold/v4beta13" }), JSON.stringify(validate.errors));
  t.notOk(validate({ ...file, builds: {} }), "the schema refuses an unknown name");
  t.end();
});

await t.test("there is one artifact for each service, with its image in the chart and a forwarded port", (t) => {
  const { artifacts } = file.build;
  t.same(
    artifacts.map(({ docker }) => docker.buildArgs.SERVICE),
    names,
  );
  t.same(
    artifacts.map(({ image }) => image),
    names.map((name) => `localhost/coffer/${name}`),
  );
  t.same(
    file.portForward.map(({ resourceName }) => resourceName),
    names.map((name) => `coffer-${name}`),
  );
  for (const { docker } of artifacts) t.ok(existsSync(join(checkout, docker.dockerfile)));
  const [release] = file.deploy.helm.releases;
  t.equal(release?.chartPath, "charts/coffer");
  for (const path of release?.valuesFiles ?? []) t.ok(existsSync(join(checkout, path)), path);
  const image = (name: string, part: string) => `{{.IMAGE_${part}_localhost_coffer_${name.replaceAll("-", "_")}}}`;
  t.same(
    release?.setValueTemplates,
    Object.fromEntries(
      names.flatMap((name) => [
        [`services.${name}.image.repository`, image(name, "REPO")],
        [`services.${name}.image.tag`, image(name, "TAG")],
      ]),
    ),
  );
  const values = parse(readFileSync(join(checkout, "deploy/kind/values.yaml"), "utf8")) as { services: object };
  t.same(Object.keys(values.services), names);
  t.end();
});

await t.test("the gateway of kind listens at the node port that kind forwards", (t) => {
  const read = (name: string): unknown => parse(readFileSync(join(checkout, "deploy/kind", name), "utf8"));
  const { nodePort } = (read("traefik.yaml") as { ports: { web: { nodePort: number } } }).ports.web;
  const forwarded = { containerPort: nodePort, hostPort: 8080, listenAddress: "127.0.0.1" };
  t.match(read("kind.yaml"), { nodes: [{ extraPortMappings: [forwarded] }] });
  t.match(read("values.yaml"), { baseUrls: ["http://coffer.localhost:8080"] });
  t.end();
});

await t.test("the profiles are dev, kind and ci; dev copies the sources of each service into the stage for it", (t) => {
  t.same(
    file.profiles.map(({ name }) => name),
    ["dev", "kind", "ci"],
  );
  const patches = file.profiles[0]?.patches ?? [];
  names.forEach((name, index) => {
    const at = (path: string) => patches.find((patch) => patch.path === `/build/artifacts/${index}/${path}`)?.value;
    t.equal(at("docker/target"), "development");
    t.match(at("sync"), { manual: [{ src: "packages/*/src/**" }, { src: `services/${name}/src/**` }] });
  });
  t.match(readFileSync(join(checkout, "deploy/docker/Dockerfile"), "utf8"), /^FROM \S+ AS development$/m);
  const values = patches.find(({ path }) => path === "/deploy/helm/releases/0/setValues")?.value;
  t.same(values, { "dev.writableRootFilesystem": true });
  t.end();
});

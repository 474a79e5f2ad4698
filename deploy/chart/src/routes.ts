import type { KubernetesObject } from "./kubernetes.ts";

/** Routes the requests below a path to a service. */
export interface Route {
  host: string | undefined;
  path: string;
  service: string;
  port: number | string;
  /** Its connections may stay open without a limit. */
  isLong: boolean;
}

interface GatewayRule {
  matches: { path: { type: string; value: string } }[];
  timeouts?: { request?: string; backendRequest?: string };
  backendRefs: { name: string; port: number }[];
}

interface IngressRule {
  host?: string;
  http: { paths: { path: string; backend: { service: { name: string; port: { name: string } } } }[] };
}

const longSeconds = 3600;

/** The routes of HTTPRoutes and Ingresses, for each host. */
export function routesOf(objects: readonly KubernetesObject[]): Route[] {
  return objects.flatMap((object) => {
    if (object.kind === "HTTPRoute") return gatewayRoutes(object);
    return object.kind === "Ingress" ? ingressRoutes(object) : [];
  });
}

function gatewayRoutes({ spec }: KubernetesObject): Route[] {
  const hosts = (spec?.["hostnames"] ?? [undefined]) as (string | undefined)[];
  return ((spec?.["rules"] ?? []) as GatewayRule[]).flatMap(({ matches, timeouts, backendRefs }) =>
    matches.flatMap(({ path }) =>
      backendRefs.flatMap(({ name, port }) =>
        hosts.map((host) => ({
          host,
          path: path.value,
          service: name,
          port,
          isLong: timeouts?.request === "0s" && timeouts.backendRequest === "0s",
        })),
      ),
    ),
  );
}

function ingressRoutes({ spec, metadata }: KubernetesObject): Route[] {
  const seconds = Number(metadata.annotations?.["nginx.ingress.kubernetes.io/proxy-read-timeout"] ?? 60);
  return ((spec?.["rules"] ?? []) as IngressRule[]).flatMap(({ host, http }) =>
    http.paths.map(({ path, backend }) => ({
      host,
      path,
      service: backend.service.name,
      port: backend.service.port.name,
      isLong: seconds >= longSeconds,
    })),
  );
}

import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const usage = `npm run test:cluster -- [options]

Installs the chart on the Kubernetes of KUBECONFIG, as its users do, and tries what must hold there. It makes the namespace
coffer-test, and removes it at the end. kubectl, helm and buildah are taken from the PATH.

  --url URL               the gateway as this machine reaches it (http://localhost:18080)
  --https-url URL         the same gateway over https (https://localhost:18443), for an installation for production; without it
                          there is none
  --ca FILE               the certificate authority of that address
  --gateway NS/NAME       the Gateway that the route belongs to (gateway/shared)
  --gateway-service NS/N  the Service of its pods, for requests from inside (gateway/traefik)
  --ingress-class NAME    class of an ingress controller at the same address (traefik)
  --controller NAME       its preset of annotations (traefik)
  --proxy-cidr CIDR       network of the gateway's pods (10.244.0.0/16)
  --load COMMAND          gives the cluster image archives, whose paths are appended; for kind: "kind load image-archive"
  --images DIR            image archives that npm run images has made; without it they are made
  --local-images          bases and the stores' images are made from local programs, for a cluster that pulls none
  --only TEXT             only steps whose name contains this, after the installation
  --keep                  leaves the namespace for a look
  --kept                  plays the steps on what --keep has left, without images and installation
`;

export interface Options {
  url: string;
  httpsUrl: string | undefined;
  /** File with the authority of httpsUrl, as an absolute path. */
  authority: string | undefined;
  gateway: string;
  gatewayService: string;
  ingressClass: string;
  controller: string;
  proxyCidr: string;
  load: string | undefined;
  images: string | undefined;
  localImages: boolean;
  only: string;
  keep: boolean;
  kept: boolean;
}

/** The parsed command line; null for help. Throws TypeError for a wrong option. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: "string", default: "http://localhost:18080" },
      "https-url": { type: "string" },
      ca: { type: "string" },
      gateway: { type: "string", default: "gateway/shared" },
      "gateway-service": { type: "string", default: "gateway/traefik" },
      "ingress-class": { type: "string", default: "traefik" },
      controller: { type: "string", default: "traefik" },
      "proxy-cidr": { type: "string", default: "10.244.0.0/16" },
      load: { type: "string" },
      images: { type: "string" },
      "local-images": { type: "boolean", default: false },
      only: { type: "string", default: "" },
      keep: { type: "boolean", default: false },
      kept: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  const { url, gateway, controller, load, images, only, keep, kept } = values;
  const httpsUrl = values["https-url"];
  for (const each of [url, ...(httpsUrl === undefined ? [] : [httpsUrl])])
    if (isIP(new URL(each).hostname.replace(/^\[|\]$/g, "")) !== 0)
      throw new TypeError(`${each}: a route needs a host name, such as localhost`);
  return {
    httpsUrl,
    authority: values.ca === undefined ? undefined : resolve(values.ca),
    ...{ url, gateway, controller, load, images, only, keep, kept },
    gatewayService: values["gateway-service"],
    ingressClass: values["ingress-class"],
    proxyCidr: values["proxy-cidr"],
    localImages: values["local-images"],
  };
}

import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestScope } from "@coffer/testkit";

/** A network that can lose responses: requests are processed, their responses do not arrive. */
export interface CutProxy {
  readonly url: string;
  /** The target of requests. */
  target: string;
  /** Selects requests whose response is lost. */
  loses: (method: string, path: string) => boolean;
  /** Delays a response until the promise resolves. */
  delays: (method: string, path: string) => Promise<unknown> | undefined;
}

/** Starts it on a free port, before the service whose address it needs is known. */
export async function startCutProxy(t: TestScope): Promise<CutProxy> {
  const proxy = { url: "", target: "", loses: (): boolean => false, delays: () => undefined } as CutProxy & {
    url: string;
  };
  const server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const onward = forward(new URL(url, proxy.target), { method, headers }, (answer) => {
      if (proxy.loses(method, url)) {
        answer.resume().on("end", () => response.destroy());
        return;
      }
      void Promise.resolve(proxy.delays(method, url)).then(() => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

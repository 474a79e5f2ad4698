import type { ServiceName } from "@coffer/events";
import { allEvents, allRpcs, serviceNames } from "@coffer/events";
import { inboxPrefix } from "./link.ts";

/** What one service may do on the bus. Everything else is refused by the server. */
export interface NatsPermission {
  publish: string[];
  subscribe: string[];
  /** May answer a request on the inbox that it names, once, however that inbox is called. */
  allowResponses: boolean;
}

export interface NatsUser extends NatsPermission {
  user: string;
  password: string;
}

/** The allow-lists of a service, from the callers, responders, publishers and consumers of all subjects. */
export function natsPermission(service: ServiceName): NatsPermission {
  const answered = allRpcs.filter(({ responder }) => responder === service);
  const asked = allRpcs.filter(({ callers }) => callers.includes(service));
  const published = allEvents.filter(({ publisher }) => publisher === service);
  const consumed = allEvents.filter(({ consumers }) => consumers.includes(service));
  return {
    publish: [...asked, ...published].map(({ subject }) => subject),
    subscribe: [...[...answered, ...consumed].map(({ subject }) => subject), `${inboxPrefix(service)}.>`],
    allowResponses: answered.length > 0,
  };
}

/** A NATS user per service, named as the service. */
export function natsUsers(passwords: Readonly<Record<ServiceName, string>>): NatsUser[] {
  return serviceNames.map((service) => ({
    user: service,
    password: passwords[service],
    ...natsPermission(service),
  }));
}

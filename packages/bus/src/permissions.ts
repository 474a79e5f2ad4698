import { allEvents, allRpcs, type ServiceName, serviceNames } from "@coffer/events";
import { inboxPrefix } from "./link.ts";

/** The permissions of a service; the server refuses everything else. */
export interface NatsPermission {
  publish: string[];
  subscribe: string[];
  /** May reply once to the inbox of each request. */
  allowResponses: boolean;
}

export interface NatsUser extends NatsPermission {
  user: string;
  password: string;
}

/**
 * The allow-lists of a service, from the callers, responders, publishers and consumers of all
 * subjects.
 */
export function natsPermission(service: ServiceName): NatsPermission {
  const answered = allRpcs.filter(({ responder }) => responder === service);
  const requested = allRpcs.filter(({ callers }) => callers.includes(service));
  const published = allEvents.filter(({ publisher }) => publisher === service);
  const consumed = allEvents.filter(({ consumers }) => consumers.includes(service));
  return {
    publish: [...requested, ...published].map(({ subject }) => subject),
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

/** The services on the bus, by their names in deployment and on the bus. */
export const serviceNames = ["auth-sm", "vaults", "sync", "billing-webhook", "siem-forwarder", "scanner"] as const;

export type ServiceName = (typeof serviceNames)[number];

/** A service of a deployment. The console has no bus and no store. */
export type DeployedService = ServiceName | "console";

/** Whether a service is on the bus, and has users of its own in NATS and Redis. */
export function isOnBus(name: DeployedService): name is ServiceName {
  return name !== "console";
}

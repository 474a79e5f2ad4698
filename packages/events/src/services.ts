/** The six services, by the names under which they are deployed and known on the bus. */
export const serviceNames = ["auth-sm", "vaults", "sync", "billing-webhook", "siem-forwarder", "scanner"] as const;

export type ServiceName = (typeof serviceNames)[number];

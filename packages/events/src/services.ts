/** The services, by their names in deployment and on the bus. */
export const serviceNames = ["auth-sm", "vaults", "sync", "billing-webhook", "siem-forwarder", "scanner"] as const;

export type ServiceName = (typeof serviceNames)[number];

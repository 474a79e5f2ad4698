import { createClient, memoryTrust } from "@coffer/sdk";
import { database, expiresAt, field, saidOf, saidValue, type Step } from "./step.ts";
import { impatient } from "./world.ts";

export const machines: Step[] = [
  {
    name: "machine: lists secrets",
    play: async ({ world, machine }) => saidOf(await machine(world.machines.api).list()),
  },
  {
    name: "machine: who it is, and its folders",
    async play({ world, machine }) {
      const api = machine(world.machines.api);
      await api.client();
      // The name of a folder without a key is the service's.
      return (await api.folders())
        .filter(({ key }) => key !== null)
        .map(({ id, name }) => ({ kind: "name", res: `folder:${id}`, name }));
    },
  },
  {
    name: "machine: reads a value",
    async play({ world, machine }) {
      const value = await machine(world.machines.api).read(field("production", database, "password"));
      return saidValue(world.folders.production, database, "password", value);
    },
  },
  {
    name: "machine: reads a value by ids",
    async play({ world, machine }) {
      const value = await machine(world.machines.api).read(field(world.folders.staging, database, "password"));
      return saidValue(world.folders.staging, database, "password", value);
    },
  },
  {
    name: "machine: lets the service find a value",
    async play({ world, machine }) {
      const { value } = await machine(world.machines.api).resolve(field("production", database, "password"));
      return saidValue(world.folders.production, database, "password", value);
    },
  },
  {
    name: "machine: lets the service find a value by uid",
    async play({ world, machine, honest }) {
      const all = await honest(world.people.olivia).secrets.list("production");
      const { uid = "" } = all.find(({ title }) => title === "api") ?? {};
      const { value } = await machine(world.machines.api).resolve(field("production", uid, "password"));
      return saidValue(world.folders.production, "api", "password", value);
    },
  },
  {
    name: "machine: gets a secret, and searches",
    async play({ world, machine, honest }) {
      const all = await honest(world.people.olivia).secrets.list("production");
      const api = machine(world.machines.api);
      return saidOf([await api.get(all[0]?.uid ?? ""), ...(await api.search("data"))]);
    },
  },
  {
    name: "machine: sets a value and removes it",
    async play({ world, machine, run }) {
      const api = machine(world.machines.api);
      world.truth.value(world.folders.staging, "of the machine", "password", `written in run ${run}`);
      await api.set(field("staging", "of the machine", "password"), `written in run ${run}`, { expiresAt });
      await api.remove(field("staging", "of the machine", "password"));
      return [];
    },
  },
  {
    name: "machine: reads a value, from the pin of its bootstrap",
    async play({ world, wire, lie }) {
      const { configuration, name } = world.machines.api;
      const options = { ...impatient, fetch: wire.network(name, lie), trust: memoryTrust(configuration.histories) };
      const value = await createClient(configuration, options).read(field("staging", database, "password"));
      return saidValue(world.folders.staging, database, "password", value);
    },
  },
];

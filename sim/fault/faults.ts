// What can go wrong between a process and its database. Each fault strikes a world once; what lasts is over at its heal.
import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "./random.ts";
import type { World } from "../world.ts";

export interface Fault {
  readonly name: string;
  strike(world: World, random: Random): Promise<void> | void;
}

const anyWire = (world: World, random: Random) => random.pick(world.nodes).wire;

/** Ends some of this world's server sessions, as an administrator or the kernel would. */
const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
  where pid <> pg_backend_pid() and application_name like 'tuntas%' and client_port = any($1) order by random() limit $2`;

export const faults: readonly Fault[] = [
  {
    name: "a connection is lost before its commit",
    strike: (world, random) => void anyWire(world, random).cutNext("before commit"),
  },
  {
    name: "a connection is lost after its commit, before the answer",
    strike: (world, random) => void anyWire(world, random).cutNext("after commit"),
  },
  { name: "a process loses all its connections", strike: (world, random) => anyWire(world, random).reset() },
  {
    name: "notifications of a process are lost",
    strike: (world, random) => void (anyWire(world, random).notifications = "lost"),
  },
  {
    name: "notifications of a process come twice",
    strike: (world, random) => void (anyWire(world, random).notifications = "doubled"),
  },
  {
    name: "the network is cut in two for a while",
    strike: (world, random) => anyWire(world, random).partition(random.between(200, 1500)),
  },
  {
    name: "the clock steps, so that every lease has run out",
    strike: (world, random) => world.step(random.between(5, 40) * 1000),
  },
  {
    name: "a process is frozen past its lease",
    async strike(world, random) {
      anyWire(world, random).partition(1200);
      await world.step(20_000);
    },
  },
  {
    name: "server sessions are terminated",
    strike: async (world, random) =>
      void (await world.ask(terminate, [random.pick(world.nodes).wire.serverPorts(), random.between(1, 5)])),
  },
  {
    name: "PostgreSQL goes away and comes back",
    async strike(world, random) {
      const ports = world.nodes.flatMap(({ wire }) => wire.serverPorts());
      for (const { wire } of world.nodes) wire.refuse(random.between(100, 800));
      await world.ask(terminate, [ports, ports.length]);
    },
  },
  {
    name: "the server has no connection left for a while",
    async strike(world, random) {
      const { wire } = random.pick(world.nodes);
      wire.turnAway(random.between(200, 1500));
      await world.ask(terminate, [wire.serverPorts(), random.between(1, 5)]);
    },
  },
  {
    name: "the disk is full for a while",
    async strike(world, random) {
      await world.ask("update tuntas.disk set is_full = true");
      await pause(random.between(50, 300));
      await world.ask("update tuntas.disk set is_full = false");
    },
  },
  {
    name: "a process ends in the middle, and another begins",
    strike: (world, random) => random.pick(world.nodes).renew(),
  },
];

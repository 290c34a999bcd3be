// Machines, their revisions, versions and aliases. A change makes a new revision; running executions stay on theirs.
import { randomUUID } from "node:crypto";
import type { Database } from "../../pg/database.ts";
import { parseMachineArn } from "../arn.ts";
import type {
  AliasRecord,
  ExecutionType,
  MachineRecord,
  MachineSettings,
  Page,
  Scope,
  Target,
  VersionRecord,
} from "../contract.ts";
import * as store from "../store/machines.ts";
import { removeAllTags, writeTags } from "../store/resources.ts";

export interface NewMachine extends MachineSettings {
  readonly name: string;
  readonly type: ExecutionType;
  readonly tags: Readonly<Record<string, string>>;
  /** Publishes version 1 at once. */
  readonly publish: boolean;
  readonly versionDescription?: string | undefined;
}

export interface Published {
  readonly machine: MachineRecord;
  readonly version: VersionRecord | undefined;
}

export interface MachineChange {
  readonly settings: Partial<MachineSettings>;
  readonly publish: boolean;
  readonly versionDescription?: string | undefined;
}

export interface Machines {
  find(scope: Scope, name: string): Promise<MachineRecord | undefined>;
  /** The machine, version or alias that an ARN names; an alias is resolved by chance, by its weights. */
  resolve(arn: string): Promise<Target | undefined>;
  /** The machine as an execution runs it; undefined once it is deleted. */
  atRevision(revision: string): Promise<MachineRecord | undefined>;
  list(scope: Scope, page: Page): Promise<MachineRecord[]>;
  /** `exists` where a machine of that name is there, whatever its definition. */
  create(
    scope: Scope,
    machine: NewMachine,
  ): Promise<
    | ({ readonly status: "created" } & Published)
    | { readonly status: "exists"; readonly machine: MachineRecord }
  >;
  update(machine: MachineRecord, change: MachineChange): Promise<Published>;
  /** Deletes machine, versions, aliases and tags; what runs goes on to its end. */
  delete(machine: MachineRecord): Promise<void>;
  versions(machine: MachineRecord, page: Page): Promise<VersionRecord[]>;
  version(machine: MachineRecord, number: number): Promise<VersionRecord | undefined>;
  /** Publishes the latest revision; a revision that is published already keeps its version. */
  publish(machine: MachineRecord, description: string | undefined): Promise<VersionRecord>;
  deleteVersion(machine: MachineRecord, number: number): Promise<void>;
  aliases(machine: MachineRecord, page: Page): Promise<AliasRecord[]>;
  alias(machine: MachineRecord, name: string): Promise<AliasRecord | undefined>;
  /** Undefined where an alias of that name exists. */
  createAlias(
    machine: MachineRecord,
    name: string,
    settings: store.AliasSettings,
  ): Promise<AliasRecord | undefined>;
  updateAlias(
    machine: MachineRecord,
    name: string,
    settings: store.AliasSettings,
  ): Promise<AliasRecord | undefined>;
  deleteAlias(machine: MachineRecord, name: string): Promise<void>;
}

const everyVersion: Page = { limit: 1000, offset: 0 };

/** Which of the routes a start takes; `chance` is in [0, 1). */
function chooseRoute({ routes }: AliasRecord, chance: number): string | undefined {
  let left = chance * 100;
  for (const { stateMachineVersionArn, weight } of routes) {
    if (left < weight) return stateMachineVersionArn;
    left -= weight;
  }
  return routes[0]?.stateMachineVersionArn;
}

/** An update that changes nothing makes no revision. */
const isSame = (machine: MachineRecord, settings: MachineSettings): boolean =>
  machine.definition === settings.definition &&
  machine.roleArn === settings.roleArn &&
  (machine.logging ?? undefined) === settings.logging &&
  (machine.tracing ?? undefined) === settings.tracing &&
  (machine.encryption ?? undefined) === settings.encryption &&
  JSON.stringify(machine.handlers ?? undefined) === JSON.stringify(settings.handlers);

export function makeMachines(database: Database): Machines {
  const find: Machines["find"] = (scope, name) => store.findMachine(database, scope, name);

  async function atVersion(machine: MachineRecord, number: number): Promise<Target | undefined> {
    const version = await store.findVersion(database, machine, number);
    const then = version && (await store.findRevision(database, version.revision));
    return then && { machine: then, versionArn: version.arn, aliasArn: null };
  }

  async function byQualifier(machine: MachineRecord, qualifier: string): Promise<Target | undefined> {
    if (/^\d+$/.test(qualifier)) return atVersion(machine, Number(qualifier));
    const alias = await store.findAlias(database, machine, qualifier);
    const version = alias && chooseRoute(alias, Math.random());
    if (version === undefined) return undefined;
    const target = await atVersion(machine, Number(version.slice(version.lastIndexOf(":") + 1)));
    return target && { ...target, aliasArn: alias!.arn };
  }

  async function publish(machine: MachineRecord, description: string | undefined): Promise<VersionRecord> {
    return database.transaction(async (tx) => {
      await store.lockMachine(tx, machine.id);
      const known = await store.listVersions(tx, machine, everyVersion);
      const same = known.find(({ revision }) => revision === machine.revision);
      return same ?? store.insertVersion(tx, machine, description);
    });
  }

  async function create(scope: Scope, machine: NewMachine): Promise<boolean> {
    return database.transaction(async (tx) => {
      const id = await store.insertMachine(tx, scope, machine.name, machine.type);
      if (id === undefined) return false;
      await store.insertRevision(tx, id, null, machine);
      return true;
    });
  }

  async function revise(machine: MachineRecord, settings: MachineSettings): Promise<MachineRecord> {
    await store.insertRevision(database, machine.id, randomUUID(), settings);
    const { scope, name } = parseMachineArn(machine.arn)!;
    return (await find(scope, name))!;
  }

  return {
    find,
    publish,
    async resolve(arn) {
      const address = parseMachineArn(arn);
      const machine = address && (await find(address.scope, address.name));
      if (!machine) return undefined;
      return address.qualifier === undefined
        ? { machine, versionArn: null, aliasArn: null }
        : byQualifier(machine, address.qualifier);
    },
    atRevision: (revision) => store.findRevision(database, revision),
    list: (scope, page) => store.listMachines(database, scope, page),
    async create(scope, wanted) {
      const isNew = await create(scope, wanted);
      const machine = (await find(scope, wanted.name))!;
      if (!isNew) return { status: "exists", machine };
      await writeTags(database, machine.arn, wanted.tags);
      const version = wanted.publish ? await publish(machine, wanted.versionDescription) : undefined;
      return { status: "created", machine, version };
    },
    async update(machine, { settings, publish: wanted, versionDescription }) {
      const changed = { ...machine, ...settings };
      const merged: MachineSettings = {
        definition: changed.definition,
        roleArn: changed.roleArn,
        logging: changed.logging ?? undefined,
        tracing: changed.tracing ?? undefined,
        encryption: changed.encryption ?? undefined,
        handlers: changed.handlers ?? undefined,
      };
      const now = isSame(machine, merged) ? machine : await revise(machine, merged);
      return { machine: now, version: wanted ? await publish(now, versionDescription) : undefined };
    },
    async delete(machine) {
      await store.removeMachine(database, machine.id);
      await removeAllTags(database, machine.arn);
    },
    versions: (machine, page) => store.listVersions(database, machine, page),
    version: (machine, number) => store.findVersion(database, machine, number),
    deleteVersion: async (machine, number) => void (await store.removeVersion(database, machine.id, number)),
    aliases: (machine, page) => store.listAliases(database, machine, page),
    alias: (machine, name) => store.findAlias(database, machine, name),
    createAlias: (machine, name, settings) => store.insertAlias(database, machine, name, settings),
    updateAlias: (machine, name, settings) => store.updateAlias(database, machine, name, settings),
    deleteAlias: async (machine, name) => void (await store.removeAlias(database, machine.id, name)),
  };
}

// The asking side: deploy, roll back, stop, scale, and how a service stands. Each act goes on the record, and the
// controller of the service's machine carries it out.
import { hostname } from "node:os";
import { resolve } from "node:path";
import { writeAudit } from "../engine/audit.ts";
import { makeBell, type Waker } from "../engine/wake.ts";
import { requestHash } from "../ledger/index.ts";
import type { Sql, Tx } from "../pg/contract.ts";
import type {
  Act,
  AlarmsWatched,
  Deployed,
  Deployment,
  DeploymentReport,
  Endpoint,
  Revision,
  ServiceDefinition,
  ServiceEvent,
  ServiceReport,
  ServiceSummary,
} from "./contract.ts";
import { serviceErrors } from "./contract.ts";
import { revisionOf } from "./declaration.ts";
import { batchesOf } from "./batches.ts";
import { outputOf, outputsDefault, readOutput, type Output } from "./output.ts";
import {
  publishEvents,
  readCourse,
  readLog,
  writeEvents,
  type LogFilter,
  type NewEvent,
} from "./store/events.ts";
import * as store from "./store/services.ts";

/** What controllers and fronts listen for. */
export const serviceKey = "service";

export interface DeployOptions extends Act {
  /** The machine whose controller runs it; where it ran before by default, else this one. */
  readonly host?: string | undefined;
  /** Where the revision runs already: the same definition as a new revision, so that its instances are replaced. */
  readonly force?: boolean | undefined;
}

export interface OutputOptions {
  /** Where its controller keeps what instances print; `services` below TUNTAS_DATA_DIR (`.tuntas`) by default. */
  readonly outputs?: string | undefined;
  readonly bytesMax?: number | undefined;
}

export interface Services {
  /** Deploys what is declared, as a new revision unless one with the same definition is known. Errors: TUNTAS_SERVICE_ALARM. */
  deploy(of: ServiceDefinition, options: DeployOptions): Promise<Deployed>;
  /** Deploys a revision again. Errors: TUNTAS_SERVICE_MISSING, TUNTAS_SERVICE_REVISION. */
  redeploy(name: string, revision: number, options: DeployOptions): Promise<Deployed>;
  /** Deploys the revision that was completed last before the current one. Errors: as `redeploy`. */
  rollback(name: string, act: Act): Promise<Deployed>;
  /** Stops all instances, until somebody deploys or scales it. Errors: TUNTAS_SERVICE_MISSING. */
  stop(name: string, act: Act): Promise<ServiceReport>;
  /** Stops one instance, which is then replaced. Errors: TUNTAS_SERVICE_MISSING, TUNTAS_SERVICE_INSTANCE. */
  stopInstance(name: string, id: string, act: Act): Promise<ServiceReport>;
  /** Errors: TUNTAS_SERVICE_MISSING, TUNTAS_SERVICE_COUNT. */
  scale(name: string, count: number, act: Act): Promise<ServiceReport>;
  list(): Promise<ServiceSummary[]>;
  /** Errors: TUNTAS_SERVICE_MISSING. */
  describe(name: string): Promise<ServiceReport>;
  /** Errors: TUNTAS_SERVICE_MISSING. */
  log(name: string, filter?: LogFilter): Promise<ServiceEvent[]>;
  /** A deployment batch by batch. Errors: TUNTAS_SERVICE_DEPLOYMENT. */
  deployment(name: string, id: string): Promise<DeploymentReport>;
  /** The last that an instance printed, where that is on this machine. Errors: TUNTAS_SERVICE_INSTANCE. */
  output(name: string, instanceId: string, options?: OutputOptions): Promise<Output>;
  /** Where it is served now: the healthy instances that are not about to stop. */
  endpoints(name: string): Promise<Endpoint[]>;
  /** Resolves when the deployment has ended, or the signal aborts. A rollback is a deployment of its own. */
  settled(deploymentId: string, signal?: AbortSignal): Promise<Deployment>;
  /** Tells controllers and fronts of all processes that something has changed. */
  announce(): void;
}

export interface ServicesOptions {
  readonly alarms: AlarmsWatched;
  readonly database: Sql;
  readonly waker: Waker;
  readonly announce: () => void;
}

const lookAgainMs = 500;

const missing = (name: string) =>
  serviceErrors.error("TUNTAS_SERVICE_MISSING", `there is no service ${JSON.stringify(name)}`, {
    details: { name },
  });

export function makeServices({ database, waker, announce, alarms }: ServicesOptions): Services {
  /** Runs an act; what it tells is written with it, and published after it. */
  async function act<T>(work: (tx: Tx, tell: (event: NewEvent) => void) => Promise<T>): Promise<T> {
    const events: NewEvent[] = [];
    const result = await database.transaction(async (tx) => {
      const answer = await work(tx, (event) => events.push(event));
      if (events.length > 0) await writeEvents(tx, events);
      return answer;
    });
    publishEvents(events);
    waker.wake(serviceKey);
    announce();
    return result;
  }

  async function locked(tx: Tx, name: string): Promise<store.ServiceRow> {
    const row = await store.lockService(tx, name);
    if (!row) throw missing(name);
    return row;
  }

  /** Errors: TUNTAS_SERVICE_ALARM. */
  async function demandAlarms(name: string, { rollout }: Revision): Promise<void> {
    const names = rollout.alarms?.names ?? [];
    const known = names.length === 0 ? [] : await alarms.standing(names);
    const unknown = names.filter((each) => !known.some((standing) => standing.name === each));
    if (unknown.length > 0)
      throw serviceErrors.error("TUNTAS_SERVICE_ALARM", `${name}: nobody has declared ${unknown.join(", ")}`);
  }

  const audit = (tx: Tx, verb: string, name: string, { actor, reason }: Act, details: object) =>
    writeAudit(tx, {
      actor,
      action: `service.${verb}`,
      subject: `service ${name}`,
      reason: reason ?? null,
      details: { ...details },
    });

  /** The deployment, unless the service has that revision already and is not forced to begin anew. */
  async function begin(
    tx: Tx,
    tell: (event: NewEvent) => void,
    { service, revision: wanted, options }: { service: string; revision: number; options: DeployOptions },
  ): Promise<Deployed> {
    const { deploymentId } = await locked(tx, service);
    const current = deploymentId && (await store.findDeployment(tx, deploymentId));
    const runs = current && current.revision === wanted;
    if (runs && current.state !== "failed" && !options.force)
      return { status: "unchanged", deployment: current };
    const revision = runs && options.force ? await store.repeatRevision(tx, service, wanted) : wanted;
    const deployment = await store.insertDeployment(tx, { service, revision, ...options });
    await audit(tx, "deploy", service, options, { revision, deployment: deployment.id });
    const detail = { revision, actor: options.actor };
    tell({ service, event: "deploying", deploymentId: deployment.id, detail });
    return { status: "created", deployment };
  }

  async function describe(name: string): Promise<ServiceReport> {
    const [summary] = await store.listServices(database, name);
    if (!summary) throw missing(name);
    const [revisions, deployments, instances, decision] = await Promise.all([
      store.listRevisions(database, name, summary.revision),
      store.listDeployments(database, name),
      store.listInstances(database, name),
      store.findDecision(database, name),
    ]);
    const { definition } = revisions.find(({ revision }) => revision === summary.revision)!;
    const last = definition.scaling.target === null ? null : decision;
    return { ...summary, definition, decision: last, revisions, deployments, instances };
  }

  const services: Services = {
    announce,

    async deploy(of, options) {
      const definition = revisionOf(of);
      await demandAlarms(of.name, definition);
      return act(async (tx, tell) => {
        const { scaling } = definition;
        await store.registerService(tx, of.name, { host: options.host, here: hostname(), scaling });
        const revision = await store.registerRevision(tx, of.name, requestHash(definition), definition);
        return begin(tx, tell, { service: of.name, revision, options });
      });
    },

    redeploy: (name, revision, options) =>
      act(async (tx, tell) => {
        await locked(tx, name);
        const definition = await store.findRevision(tx, name, revision);
        if (!definition)
          throw serviceErrors.error("TUNTAS_SERVICE_REVISION", `${name} has no revision ${revision}`);
        await store.registerService(tx, name, { host: options.host, here: hostname(), ...definition });
        return begin(tx, tell, { service: name, revision, options });
      }),

    async rollback(name, options) {
      const revision = await store.previousRevision(database, name);
      if (revision !== undefined) return services.redeploy(name, revision, options);
      await describe(name);
      throw serviceErrors.error(
        "TUNTAS_SERVICE_REVISION",
        `${name} has no earlier revision that was completed`,
      );
    },

    async stop(name, options) {
      await act(async (tx, tell) => {
        const { desired } = await locked(tx, name);
        await store.setDesired(tx, name, 0, false);
        await audit(tx, "stop", name, options, { from: desired });
        tell({ service: name, event: "scaled", detail: { from: desired, to: 0, by: options.actor } });
      });
      return describe(name);
    },

    async stopInstance(name, id, options) {
      await act(async (tx, tell) => {
        await locked(tx, name);
        const stopped = await store.stopInstance(tx, name, id);
        if (!stopped)
          throw serviceErrors.error("TUNTAS_SERVICE_INSTANCE", `${name} has no instance ${id} that runs`);
        await audit(tx, "stop-instance", name, options, { instance: id });
        const { deploymentId } = stopped;
        tell({
          service: name,
          event: "stopping",
          deploymentId,
          instanceId: id,
          detail: { stopReason: "person" },
        });
      });
      return describe(name);
    },

    async scale(name, count, options) {
      const { min, max } = (await describe(name)).definition.scaling;
      if (!Number.isInteger(count) || count < min || count > max)
        throw serviceErrors.error(
          "TUNTAS_SERVICE_COUNT",
          `${name}: expected ${min} to ${max} instances, as its revision says, got ${count}`,
        );
      await act(async (tx, tell) => {
        const { desired } = await locked(tx, name);
        await store.setDesired(tx, name, count, true);
        await audit(tx, "scale", name, options, { from: desired, to: count });
        tell({ service: name, event: "scaled", detail: { from: desired, to: count, by: options.actor } });
      });
      return describe(name);
    },

    list: () => store.listServices(database),
    describe,

    async log(name, filter = {}) {
      const events = await readLog(database, name, filter);
      if (events.length === 0) await describe(name);
      return events;
    },

    async deployment(name, id) {
      const deployment = await store.findDeployment(database, id);
      if (deployment?.service !== name)
        throw serviceErrors.error("TUNTAS_SERVICE_DEPLOYMENT", `${name} has no deployment ${id}`);
      return { ...deployment, batches: batchesOf(id, await readCourse(database, id)) };
    },

    async output(name, id, { outputs = outputsDefault(), bytesMax = 64 << 10 } = {}) {
      const instance = await store.findInstance(database, name, id);
      if (!instance) throw serviceErrors.error("TUNTAS_SERVICE_INSTANCE", `${name} has no instance ${id}`);
      return readOutput(resolve(outputOf(outputs, instance)), bytesMax);
    },

    endpoints: (name) => store.listEndpoints(database, name),

    async settled(deploymentId, signal) {
      const bell = makeBell(waker, serviceKey);
      try {
        for (;;) {
          const deployment = (await store.findDeployment(database, deploymentId))!;
          if (deployment.state !== "in_progress" || signal?.aborted) return deployment;
          await bell.wait(lookAgainMs, signal);
        }
      } finally {
        bell.close();
      }
    },
  };
  return services;
}

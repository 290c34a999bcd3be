// Services: what is to run, what does, and what people do about it, as JSON.
import { demand, type Who } from "tuntas/access";
import {
  decisionText,
  figureTexts,
  reasonText,
  ruleText,
  stopText,
  type Act as Doing,
  type BatchInstance,
  type DeploymentReport,
  type Instance,
  type NumberedRevision,
  type ScalingDecision,
  type ServiceEvent,
  type ServiceReport,
} from "tuntas/service";
import type {
  DeploymentView,
  InstanceView,
  RevisionView,
  ScaledView,
  ServiceActs,
  ServiceReads,
} from "../../api/index.ts";
import { changesBetween } from "../changes.ts";
import type { Fields } from "../fields.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

const eventsMax = 200;
const scaledMax = 5;
const revisionMax = 1_000_000;
const instancesMax = 1000;

function revisionView(of: NumberedRevision, before: NumberedRevision | undefined): RevisionView {
  const { environment: _, ...definition } = of.definition;
  return { ...of, definition, changes: before ? changesBetween(before.definition, of.definition) : [] };
}

const instanceView = (of: Instance): InstanceView => ({ ...of, ended: stopText(of) ?? null });

const batchInstanceView = (of: BatchInstance) => ({
  ...of,
  ended: stopText({ ...of, exit: null }) ?? null,
});

const deploymentView = ({ batches, ...deployment }: DeploymentReport): DeploymentView => ({
  ...deployment,
  batches: batches.map(({ instances, ...batch }) => ({
    ...batch,
    instances: instances.map(batchInstanceView),
  })),
});

/** A change of the count, or what was against one. */
function scaledView({ id, atMs, detail }: ServiceEvent): ScaledView {
  const { from, to, by, reason } = detail as unknown as ScalingDecision & { readonly by: string };
  const why = reason === undefined ? null : reasonText(reason);
  return { id, atMs, from, to, by, why };
}

export function serviceReads(needs: Needs): ReadsOf<keyof ServiceReads> {
  const { services } = needs.platform;
  return {
    services: () => services.list(),
    async service(query) {
      const name = query.text("service");
      const report = await services.describe(name);
      const [rollout, scaled, held] = await Promise.all([
        services.deployment(name, report.deployments[0]!.id),
        services.log(name, { event: "scaled", limit: scaledMax }),
        services.log(name, { event: "held", limit: scaledMax }),
      ]);
      const { definition, revisions: known, instances, decision, ...rest } = report;
      const revisions = known.map((each, index) => revisionView(each, known[index + 1]));
      const current = revisions.find(({ revision }) => revision === report.revision)!;
      return {
        ...rest,
        current,
        revisions,
        instances: instances.map(instanceView),
        rollout: deploymentView(rollout),
        rule: ruleText(definition.scaling),
        scaled: [...scaled, ...held]
          .toSorted((a, b) => b.atMs - a.atMs)
          .slice(0, scaledMax)
          .map(scaledView),
        decision: decision && {
          atMs: decision.atMs,
          text: decisionText(decision),
          figures: figureTexts(decision),
        },
      };
    },
    "service.deployment": async (query) =>
      deploymentView(await services.deployment(query.text("service"), query.id("id"))),
    "service.log": async (query) => ({
      items: (await services.log(query.text("service"), { limit: eventsMax })).toReversed(),
    }),
    async "service.output"(query, who) {
      demand(who, "service.output");
      return services.output(query.text("service"), query.id("id"));
    },
  };
}

const told = ({ desired, controlled }: ServiceReport) => ({ desired, controlled });

export function serviceActs({ platform: { services } }: Needs): ActsOf<keyof ServiceActs> {
  const act = <T>(work: (name: string, by: Doing, body: Fields) => Promise<T>) => ({
    may: "service.deploy" as const,
    run: (body: Fields, { name: actor }: Who) =>
      work(body.text("service"), { actor, reason: body.text("reason") }, body),
  });
  return {
    "service.deploy": act((name, by, body) =>
      services.redeploy(name, body.whole("revision", { min: 1, max: revisionMax }), {
        ...by,
        force: body.flag("force"),
      }),
    ),
    "service.rollback": act((name, by) => services.rollback(name, by)),
    "service.scale": act(async (name, by, body) =>
      told(await services.scale(name, body.whole("count", { min: 0, max: instancesMax }), by)),
    ),
    "service.stop": act(async (name, by) => told(await services.stop(name, by))),
    "service.stop-instance": act(async (name, by, body) =>
      told(await services.stopInstance(name, body.id("id"), by)),
    ),
  };
}

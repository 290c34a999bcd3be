// Target tracking, by the processor or by the backlog of a queue for each running instance, and steps by the age of its
// oldest message. Never more than what the downstream safely bears: that is the highest capacity.
import { Duration } from "aws-cdk-lib";
import { AdjustmentType, CfnScalingPolicy } from "aws-cdk-lib/aws-applicationautoscaling";
import type { FargateService, ScalableTaskCount } from "aws-cdk-lib/aws-ecs";
import type { ApplicationTargetGroup } from "aws-cdk-lib/aws-elasticloadbalancingv2";
import type { Construct } from "constructs";
import { toSeconds } from "tuntas/queue/remote";
import { capOf, ruleOf, type QueueTarget, type ServiceDefinition } from "tuntas/service";
import { queueMetric } from "./alarms.ts";
import { unsupported } from "./errors.ts";
import type { ServiceNetwork } from "./network.ts";

type Scaling = Exclude<ServiceDefinition["options"]["scaling"], { readonly fixed: number }>;
type Dimensions = Readonly<Record<string, string>>;

export interface Scaled {
  readonly service: ServiceDefinition;
  readonly fargate: FargateService;
  readonly network: ServiceNetwork;
  /** Undefined for one that is not served. */
  readonly targets: ApplicationTargetGroup | undefined;
}

const figure = (
  id: string,
  stat: "Maximum" | "Average",
  { namespace, metricName, dimensions }: { namespace: string; metricName: string; dimensions: Dimensions },
): CfnScalingPolicy.TargetTrackingMetricDataQueryProperty => ({
  id,
  returnData: false,
  metricStat: {
    stat,
    metric: {
      namespace,
      metricName,
      dimensions: Object.entries(dimensions).map(([name, value]) => ({ name, value })),
    },
  },
});

/** While none runs, the whole backlog counts for the first. */
const backlogEach = (queue: string, { fargate, network }: Scaled) => [
  figure("backlog", "Maximum", {
    namespace: "AWS/SQS",
    metricName: "ApproximateNumberOfMessagesVisible",
    dimensions: { QueueName: queue },
  }),
  figure("running", "Average", {
    namespace: "ECS/ContainerInsights",
    metricName: "RunningTaskCount",
    dimensions: { ClusterName: network.cluster.clusterName, ServiceName: fargate.serviceName },
  }),
  {
    id: "each",
    expression: "IF(FILL(running, 0) > 0, backlog / running, backlog)",
    label: "messages for each instance",
    returnData: true,
  },
];

const nameOf = ({ queue }: QueueTarget): string => (typeof queue === "string" ? queue : queue.name);

function specificationOf({ target }: Scaling, scaled: Scaled) {
  if ("cpuPercent" in target)
    return {
      targetValue: target.cpuPercent,
      predefinedMetricSpecification: { predefinedMetricType: "ECSServiceAverageCPUUtilization" },
    };
  return {
    targetValue: target.backlogPerInstance,
    customizedMetricSpecification: { metrics: backlogEach(nameOf(target), scaled) },
  };
}

/** Half as many again while the oldest is older than it may be, twice as many from twice that age. In goes the other policy. */
function scaleByAge(count: ScalableTaskCount, target: QueueTarget, cooldownSeconds: number): void {
  const seconds = toSeconds(target.oldestAge);
  count.scaleOnMetric("Age", {
    metric: queueMetric(nameOf(target), "ApproximateAgeOfOldestMessage", "Maximum", Duration.minutes(1)),
    adjustmentType: AdjustmentType.PERCENT_CHANGE_IN_CAPACITY,
    minAdjustmentMagnitude: 1,
    scalingSteps: [
      { lower: seconds, upper: 2 * seconds, change: 50 },
      { lower: 2 * seconds, change: 100 },
    ],
    cooldown: Duration.seconds(cooldownSeconds),
  });
}

/** A second policy beside the CPU's: out where either asks for it, in where both allow it. */
function scaleByRequests(
  count: ScalableTaskCount,
  requestsPerTarget: number,
  { scaled: { service, targets }, scaling }: { readonly scaled: Scaled; readonly scaling: Scaling },
): void {
  if (!targets)
    throw unsupported(
      `service ${service.name}: scaling.target.requestsPerInstance`,
      "a load balancer counts requests; expected a service with a port",
    );
  count.scaleOnRequestCount("Requests", {
    targetGroup: targets,
    requestsPerTarget,
    scaleInCooldown: Duration.seconds(toSeconds(scaling.scaleInCooldown)),
    scaleOutCooldown: Duration.seconds(toSeconds(scaling.scaleOutCooldown)),
  });
}

/** Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export function scale(scope: Construct, scaled: Scaled): void {
  const { name, options } = scaled.service;
  const { scaling } = options;
  if ("fixed" in scaling) return;
  const { min, target, scaleInCooldown, scaleOutCooldown } = scaling;
  const count = scaled.fargate.autoScaleTaskCount({
    minCapacity: min,
    maxCapacity: capOf(ruleOf(scaling)),
  });
  if ("queue" in target) scaleByAge(count, target, toSeconds(scaleOutCooldown));
  if ("cpuPercent" in target && target.requestsPerInstance !== undefined)
    scaleByRequests(count, target.requestsPerInstance, { scaled, scaling });
  const { resourceId, scalableDimension, serviceNamespace } = count.scalableTargetRef;
  new CfnScalingPolicy(scope, "Scaling", {
    policyName: name,
    policyType: "TargetTrackingScaling",
    resourceId,
    scalableDimension,
    serviceNamespace,
    targetTrackingScalingPolicyConfiguration: {
      ...specificationOf(scaling, scaled),
      scaleInCooldown: toSeconds(scaleInCooldown),
      scaleOutCooldown: toSeconds(scaleOutCooldown),
    },
  });
}

// Target tracking, by the processor or by the backlog of a queue for each running instance.
import { CfnScalingPolicy } from "aws-cdk-lib/aws-applicationautoscaling";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import type { Construct } from "constructs";
import { toSeconds } from "tuntas/queue/remote";
import type { ServiceDefinition } from "tuntas/service";
import type { ServiceNetwork } from "./network.ts";

type Scaling = Exclude<ServiceDefinition["options"]["scaling"], { readonly fixed: number }>;
type Dimensions = Readonly<Record<string, string>>;

export interface Scaled {
  readonly service: ServiceDefinition;
  readonly fargate: FargateService;
  readonly network: ServiceNetwork;
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

function specificationOf({ target }: Scaling, scaled: Scaled) {
  if ("cpuPercent" in target)
    return {
      targetValue: target.cpuPercent,
      predefinedMetricSpecification: { predefinedMetricType: "ECSServiceAverageCPUUtilization" },
    };
  const queue = typeof target.queue === "string" ? target.queue : target.queue.name;
  return {
    targetValue: target.backlogPerInstance,
    customizedMetricSpecification: { metrics: backlogEach(queue, scaled) },
  };
}

export function scale(scope: Construct, scaled: Scaled): void {
  const { name, options } = scaled.service;
  const { scaling } = options;
  if ("fixed" in scaling) return;
  const { min, max, scaleInCooldown, scaleOutCooldown } = scaling;
  const count = scaled.fargate.autoScaleTaskCount({ minCapacity: min, maxCapacity: max });
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

// The load balancer before a service that is served: it alone reaches the service's port, and sends traffic to those that say
// they are ready.
import { Duration } from "aws-cdk-lib";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  ApplicationProtocolVersion,
  type ApplicationTargetGroup,
  type HealthCheck,
  type IListenerCertificate,
} from "aws-cdk-lib/aws-elasticloadbalancingv2";
import type { Construct } from "constructs";
import { toSeconds } from "tuntas/queue/remote";
import type { ServiceDefinition } from "tuntas/service";
import { unsupported } from "./errors.ts";
import type { ProbeTimes } from "./fargate.ts";
import type { ServiceNetwork } from "./network.ts";

export interface Balanced {
  readonly service: ServiceDefinition;
  readonly fargate: FargateService;
  readonly network: ServiceNetwork;
  readonly times: ProbeTimes;
  readonly certificate?: IListenerCertificate;
}

function healthCheckOf({ service: { name, options }, times }: Balanced): HealthCheck {
  const { healthCheck } = options;
  const what = `service ${name}: healthCheck`;
  if (!("http" in healthCheck))
    throw unsupported(what, 'a load balancer asks by HTTP; expected { http: "/readyz" }');
  const { intervalSeconds, timeoutSeconds, retries } = times;
  if (timeoutSeconds >= intervalSeconds || retries < 2)
    throw unsupported(
      what,
      `a load balancer takes a timeout below the interval and at least 2 retries, got ${healthCheck.timeout}, ${healthCheck.interval} and ${retries}`,
    );
  return {
    path: healthCheck.http,
    interval: Duration.seconds(intervalSeconds),
    timeout: Duration.seconds(timeoutSeconds),
    unhealthyThresholdCount: retries,
    healthyThresholdCount: 2,
    ...(options.kind === "grpc" ? { healthyGrpcCodes: "0" } : { healthyHttpCodes: "200-399" }),
  };
}

export interface Balancing {
  readonly balancer: ApplicationLoadBalancer;
  readonly targets: ApplicationTargetGroup;
}

/** Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export function balance(scope: Construct, balanced: Balanced): Balancing {
  const { service, fargate, network, certificate } = balanced;
  const { kind, rollout } = service.options;
  if (kind === "grpc" && !certificate)
    throw unsupported(
      `service ${service.name}`,
      "a load balancer speaks gRPC over HTTPS only; expected a certificate",
    );
  const balancer = new ApplicationLoadBalancer(scope, "Balancer", {
    vpc: network.vpc,
    internetFacing: true,
    vpcSubnets: { subnetGroupName: "public" },
    dropInvalidHeaderFields: true,
  });
  const listener = balancer.addListener("Listener", {
    protocol: certificate ? ApplicationProtocol.HTTPS : ApplicationProtocol.HTTP,
    ...(certificate && { certificates: [certificate] }),
  });
  const targets = listener.addTargets("Targets", {
    protocol: ApplicationProtocol.HTTP,
    protocolVersion: kind === "grpc" ? ApplicationProtocolVersion.GRPC : ApplicationProtocolVersion.HTTP1,
    targets: [fargate],
    deregistrationDelay: Duration.seconds(toSeconds(rollout.deregistrationDelay ?? "1s")),
    healthCheck: healthCheckOf(balanced),
  });
  return { balancer, targets };
}

// A declared service as a service of ECS on Fargate: a task definition with a role of its own, health checks, a roll-out that
// gives up and goes back, scaling, and for one that serves a load balancer before it.
import { dirname, relative, resolve } from "node:path";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { type IPeer, Peer, Port, SecurityGroup } from "aws-cdk-lib/aws-ec2";
import {
  AlarmBehavior,
  type ContainerImage,
  FargateService,
  type FargateServiceProps,
  FargateTaskDefinition,
  LogDriver,
  type Secret,
} from "aws-cdk-lib/aws-ecs";
import type { ApplicationLoadBalancer, IListenerCertificate } from "aws-cdk-lib/aws-elasticloadbalancingv2";
import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { toSeconds } from "tuntas/queue/remote";
import type { ServiceDefinition } from "tuntas/service";
import { balance } from "./balancer.ts";
import { unfit, unsupported } from "./errors.ts";
import { containerCommand, probeTimes, sizeFor, type ProbeTimes } from "./fargate.ts";
import type { ServiceNetwork } from "./network.ts";
import { scale } from "./scaling.ts";

/** What a service reaches besides AWS: its database, a partner. */
export interface Reached {
  readonly peer: IPeer;
  readonly port: Port;
}

export interface ServiceWork {
  /** The image; its folder of work holds what `root` holds here. */
  readonly image: ContainerImage;
  /** Read by the execution role when an instance starts; the service's own role cannot. */
  readonly secrets?: Readonly<Record<string, Secret>>;
  /** Beside what is declared. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly reaches?: readonly Reached[];
  /** Of one that is served: where the container itself is asked whether it lives; `/livez` by default. */
  readonly livez?: string;
  /** Of one that is served: the load balancer speaks HTTPS with it, else HTTP. */
  readonly certificate?: IListenerCertificate;
}

export interface DeclaredServiceProps extends ServiceWork {
  readonly service: ServiceDefinition;
  readonly network: ServiceNetwork;
  /** The folder that becomes the image's. */
  readonly root: string;
  /** What the role of the service may do. */
  readonly rights: readonly PolicyStatement[];
  /** The names on CloudWatch of declared alarms. */
  readonly alarms: ReadonlySet<string>;
  readonly logRetention: RetentionDays;
}

/** Inside the container, which has no other. */
const port = 8080;
const served = ["rest", "grpc", "websocket"];

const isServed = ({ options }: ServiceDefinition): boolean =>
  served.includes(options.kind) && options.port !== undefined;

function commandOf({ options: { run }, place }: ServiceDefinition, root: string): string[] {
  if ("command" in run) return [...run.command];
  const folder = place === undefined ? process.cwd() : dirname(place.replace(/:\d+$/, ""));
  const module = relative(root, resolve(folder, run.module)).replaceAll("\\", "/");
  return ["node", module, ...(run.args ?? [])];
}

function environmentOf(
  { options }: ServiceDefinition,
  more: ServiceWork["environment"],
): Record<string, string> {
  return {
    ...options.environment,
    ...(options.port && { [options.port.variable]: String(port) }),
    ...(options.version !== undefined && { TUNTAS_REVISION: options.version }),
    ...more,
  };
}

function checkKind({ name, options: { kind, rollout } }: ServiceDefinition): void {
  const what = `service ${name}`;
  if (kind === "daemon")
    throw unsupported(what, "Fargate has no machines for one daemon each; expected another kind");
  if (rollout.alarms?.bakeTime !== undefined)
    throw unsupported(
      what,
      "ECS itself says how long alarms are watched; expected no rollout.alarms.bakeTime",
    );
}

/** Those that fail a deployment. Errors: TUNTAS_DEPLOY_OPTIONS. */
function deploymentAlarms({
  service,
  alarms,
}: DeclaredServiceProps): Pick<FargateServiceProps, "deploymentAlarms"> {
  const given = service.options.rollout.alarms;
  if (!given) return {};
  const alarmNames = given.names.map((each) => (typeof each === "string" ? each : each.name));
  const missing = alarmNames.find((each) => !alarms.has(each));
  if (missing !== undefined)
    throw unfit(
      `service ${service.name}`,
      `rollout.alarms: expected alarms that are deployed, of which ${missing} is none`,
    );
  const behavior = given.rollback ? AlarmBehavior.ROLLBACK_ON_ALARM : AlarmBehavior.FAIL_ON_ALARM;
  return { deploymentAlarms: { alarmNames, behavior } };
}

/** Errors: TUNTAS_DEPLOY_OPTIONS, TUNTAS_DEPLOY_UNSUPPORTED. */
export class DeclaredService extends Construct {
  readonly service: FargateService;
  /** Undefined for one that is not served. */
  readonly balancer: ApplicationLoadBalancer | undefined;
  private readonly times: ProbeTimes;

  constructor(scope: Construct, id: string, props: DeclaredServiceProps) {
    super(scope, id);
    checkKind(props.service);
    this.times = probeTimes(props.service.name, props.service.options.healthCheck);
    const definition = this.makeDefinition(props);
    this.service = this.makeService(props, definition);
    const parts = { ...props, fargate: this.service };
    const balancing = isServed(props.service) ? balance(this, { ...parts, times: this.times }) : undefined;
    this.balancer = balancing?.balancer;
    scale(this, { ...parts, targets: balancing?.targets });
  }

  private makeDefinition({ service, rights, ...props }: DeclaredServiceProps): FargateTaskDefinition {
    const { cpu, memory, stopTimeout, healthCheck } = service.options;
    const size = sizeFor(service);
    const definition = new FargateTaskDefinition(this, "Task", {
      family: service.name,
      cpu: size.cpu,
      memoryLimitMiB: size.memoryMiB,
    });
    for (const right of rights) definition.addToTaskRolePolicy(right);
    const logGroup = new LogGroup(this, "Log", {
      logGroupName: `/ecs/${service.name}`,
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const path = isServed(service) ? (props.livez ?? "/livez") : undefined;
    definition.addContainer("Container", {
      containerName: service.name,
      image: props.image,
      command: commandOf(service, props.root),
      cpu: cpu.request,
      memoryReservationMiB: memory.request,
      memoryLimitMiB: memory.limit,
      environment: environmentOf(service, props.environment),
      ...(props.secrets && { secrets: { ...props.secrets } }),
      stopTimeout: Duration.seconds(toSeconds(stopTimeout)),
      logging: LogDriver.awsLogs({ logGroup, streamPrefix: service.name }),
      portMappings: isServed(service) ? [{ containerPort: port }] : [],
      healthCheck: {
        command: containerCommand(service.name, healthCheck, { port, path }),
        interval: Duration.seconds(this.times.intervalSeconds),
        timeout: Duration.seconds(this.times.timeoutSeconds),
        retries: this.times.retries,
        startPeriod: Duration.seconds(this.times.startPeriodSeconds),
      },
    });
    return definition;
  }

  private makeService(props: DeclaredServiceProps, taskDefinition: FargateTaskDefinition): FargateService {
    const { service, network, reaches = [] } = props;
    const { rollout, scaling } = service.options;
    const group = new SecurityGroup(this, "Group", {
      vpc: network.vpc,
      description: `service ${service.name}`,
      allowAllOutbound: false,
    });
    // The private subnets have no way out but the endpoints.
    group.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "endpoints of AWS");
    for (const each of reaches) group.addEgressRule(each.peer, each.port, "declared");
    return new FargateService(this, "Service", {
      serviceName: service.name,
      cluster: network.cluster,
      taskDefinition,
      ...("fixed" in scaling && { desiredCount: scaling.fixed }),
      securityGroups: [group],
      vpcSubnets: { subnetGroupName: "private" },
      assignPublicIp: false,
      minHealthyPercent: rollout.minimumHealthyPercent,
      maxHealthyPercent: rollout.maximumPercent,
      ...(rollout.circuitBreaker !== "off" && { circuitBreaker: rollout.circuitBreaker }),
      ...deploymentAlarms(props),
      ...(isServed(service) && {
        healthCheckGracePeriod: Duration.seconds(
          Math.max(toSeconds(rollout.healthCheckGracePeriod ?? "0s"), this.times.startPeriodSeconds),
        ),
      }),
    });
  }
}

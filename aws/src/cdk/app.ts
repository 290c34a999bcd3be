// An application on AWS: what `app({…})` declares, each part as the resource that does the same there. Nothing is left out in
// silence: what AWS has no match for is refused, unless `inDatabase` says that the application goes on doing it.
import { ArnFormat, Stack } from "aws-cdk-lib";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import type { ContainerImage } from "aws-cdk-lib/aws-ecs";
import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import {
  toMs,
  type AppDefinition,
  type Definition,
  type QueueDefinition,
  type ScheduleDefinition,
  type WorkflowDefinition,
} from "tuntas";
import type { ServiceDefinition } from "tuntas/service";
import { makeWatch, watchDeclared, type Watch } from "./alarms.ts";
import { unfit, unsupported } from "./errors.ts";
import { ServiceNetwork } from "./network.ts";
import { DeclaredQueue } from "./queue.ts";
import { toAnswer, toSend, toStart, toWork } from "./rights.ts";
import { DeclaredSchedule } from "./schedule.ts";
import { DeclaredService, type ServiceWork } from "./service.ts";
import { DeclaredWorkflow, type WorkflowDeployment } from "./workflow.ts";

export interface ServiceDeployment extends Omit<ServiceWork, "image"> {
  /** That of the application by default. */
  readonly image?: ContainerImage;
  /** Whose workers, or task handlers, it runs: it may receive, and answer. */
  readonly works: readonly (QueueDefinition<any> | WorkflowDefinition<any>)[];
  /** Queues it sends to. */
  readonly sends: readonly QueueDefinition<any>[];
  /** Workflows it starts. */
  readonly starts: readonly WorkflowDefinition<any>[];
}

export interface TuntasAppProps {
  readonly app: AppDefinition;
  /** Who answers for each declared workflow, by its name. */
  readonly workflows?: Readonly<Record<string, WorkflowDeployment>>;
  /** What each declared service works with, and so may do, by its name. */
  readonly services?: Readonly<Record<string, ServiceDeployment>>;
  /** Parts, by their keys in `app({…})`, that the application does in its PostgreSQL as it does elsewhere. */
  readonly inDatabase?: readonly string[];
  readonly image?: ContainerImage;
  /** The folder that the image has as its folder of work; the one of this process by default. */
  readonly root?: string;
  /** Where the services run; made by default. */
  readonly network?: ServiceNetwork;
  /** Who is told of alarms, and of their end. */
  readonly alarmActions?: readonly IAlarmAction[];
  /** A month by default. */
  readonly logRetention?: RetentionDays;
}

type Kind<K extends Definition["kind"]> = Extract<Definition, { kind: K }>;
type Declared = QueueDefinition<any> | WorkflowDefinition<any>;

/** What nothing of AWS does. A worker is the work of a service, a provider what such work calls. */
const databaseOnly: readonly string[] = [
  "stream",
  "consumer",
  "batch",
  "backfill",
  "command",
  "reconciliation",
];

/** The parts that AWS is to do. Errors: TUNTAS_DEPLOY_OPTIONS, TUNTAS_DEPLOY_UNSUPPORTED. */
function partsForAws({ app, inDatabase = [] }: TuntasAppProps): Definition[] {
  const unknown = inDatabase.find((key) => !(key in app.parts));
  if (unknown !== undefined)
    throw unfit("inDatabase", `expected keys of what the application declares, got ${unknown}`);
  const parts = Object.entries(app.parts).filter(([key]) => !inDatabase.includes(key));
  const without = parts.find(([, { kind }]) => databaseOnly.includes(kind));
  if (without)
    throw unsupported(
      `${without[1].kind} ${without[0]}`,
      `its work lives in PostgreSQL; expected inDatabase: ["${without[0]}"]`,
    );
  return parts.map(([, part]) => part);
}

const ofKind = <K extends Definition["kind"]>(parts: readonly Definition[], kind: K): Kind<K>[] =>
  parts.filter((part): part is Kind<K> => part.kind === kind);

/** A worker brings its queue along. */
const queuesOf = (parts: readonly Definition[]): QueueDefinition<any>[] => [
  ...new Set([...ofKind(parts, "queue"), ...ofKind(parts, "worker").map(({ queue }) => queue)]),
];

/** Each declared one has an entry, and each entry is of a declared one. Errors: TUNTAS_DEPLOY_OPTIONS. */
function entryOf<T>(
  field: "services" | "workflows",
  entries: Readonly<Record<string, T>>,
  names: readonly string[],
): (name: string) => T {
  const unknown = Object.keys(entries).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw unfit(field, `expected names of declared ${field}, of which ${unknown} is none`);
  return (name) => {
    const entry = entries[name];
    if (entry) return entry;
    const wanted = { services: "works, sends and starts", workflows: "owner and runbook" }[field];
    throw unfit(field, `expected ${wanted} for ${name}: ${field}: { "${name}": { … } }`);
  };
}

/** What is deployed of the application, by the declaration's name. */
interface Deployed {
  readonly queues: Map<string, DeclaredQueue>;
  readonly workflows: Map<string, DeclaredWorkflow>;
}

function deployedOf(
  { queues, workflows }: Deployed,
  { kind, name }: Declared,
): DeclaredQueue | DeclaredWorkflow {
  const found = kind === "queue" ? queues.get(name) : workflows.get(name);
  if (found) return found;
  throw unfit(`${kind} ${name}`, "expected it among what is deployed");
}

/** Of a queue or a machine that is there, what a service does with it, as what its role may do. */
function rightsOf(deployed: Deployed, { works, sends, starts }: ServiceDeployment): PolicyStatement[] {
  const working = works
    .map((each) => deployedOf(deployed, each))
    .flatMap((each) =>
      each instanceof DeclaredQueue
        ? toWork(each)
        : [...(each.tasks ? toWork(each.tasks) : []), toAnswer(each)],
    );
  const sending = sends.flatMap((each) => toSend(deployedOf(deployed, each) as DeclaredQueue));
  const starting = starts.flatMap((each) => toStart(deployedOf(deployed, each) as DeclaredWorkflow));
  return [...working, ...sending, ...starting];
}

/** Errors: TUNTAS_DEPLOY_OPTIONS, TUNTAS_DEPLOY_UNSUPPORTED. */
export class TuntasApp extends Construct {
  readonly queues = new Map<string, DeclaredQueue>();
  readonly workflows = new Map<string, DeclaredWorkflow>();
  readonly services = new Map<string, DeclaredService>();
  private readonly props: TuntasAppProps;
  private readonly parts: readonly Definition[];
  private readonly watch: Watch;

  constructor(scope: Construct, id: string, props: TuntasAppProps) {
    super(scope, id);
    this.props = props;
    this.parts = partsForAws(props);
    this.watch = makeWatch(props.alarmActions ?? []);
    this.deployQueues();
    this.deployWorkflows();
    const alarms = this.deployAlarms();
    for (const each of ofKind(this.parts, "schedule")) this.deploySchedule(each);
    this.deployServices(alarms);
  }

  private get logRetention(): RetentionDays {
    return this.props.logRetention ?? RetentionDays.ONE_MONTH;
  }

  private deployQueues(): void {
    const workers = ofKind(this.parts, "worker");
    workers.forEach(refuseWaits);
    const timeouts = new Map(workers.map(({ queue, options }) => [queue.name, toMs(options.timeout)]));
    for (const queue of queuesOf(this.parts)) {
      const props = { queue, timeoutMs: timeouts.get(queue.name), watch: this.watch };
      this.queues.set(queue.name, new DeclaredQueue(this, queue.name, props));
    }
  }

  private deployWorkflows(): void {
    const workflows = ofKind(this.parts, "workflow");
    const names = workflows.map(({ name }) => name);
    const entry = entryOf("workflows", this.props.workflows ?? {}, names);
    const { watch, logRetention } = this;
    for (const workflow of workflows) {
      const props = { ...entry(workflow.name), workflow, watch, logRetention };
      this.workflows.set(workflow.name, new DeclaredWorkflow(this, workflow.name, props));
    }
  }

  private deployAlarms(): ReadonlySet<string> {
    const alarms = ofKind(this.parts, "alarm");
    for (const alarm of alarms) watchDeclared(new Construct(this, alarm.name), this.watch, alarm);
    return new Set(alarms.map(({ name }) => name));
  }

  private deploySchedule(schedule: ScheduleDefinition): void {
    const { kind, name } = schedule.options.target;
    const declared = [...queuesOf(this.parts), ...ofKind(this.parts, "workflow")].find(
      (each) => each.kind === kind && each.name === name,
    );
    if (!declared)
      throw unsupported(
        `schedule ${schedule.name}`,
        `EventBridge begins what is deployed, a queue or a workflow, got ${kind} ${name}`,
      );
    const target = { declared, deployed: deployedOf(this, declared) };
    const deadLetter = this.deadLetterOf(schedule);
    new DeclaredSchedule(this, schedule.name, { schedule, target, deadLetter, watch: this.watch });
  }

  private deadLetterOf({ name, options: { deadLetter } }: ScheduleDefinition): DeclaredQueue | undefined {
    if (!deadLetter) return undefined;
    const deployed = this.queues.get(deadLetter.name);
    if (deployed) return deployed;
    throw unsupported(
      `schedule ${name}`,
      `EventBridge puts dead letters into a queue that is deployed, got ${deadLetter.name}; declare it in the app`,
    );
  }

  /** What `stepFunctions()` reads: a role that may start one machine may not list them. */
  private whereMachinesAre({ works, starts }: ServiceDeployment): Record<string, string> {
    if (![...works, ...starts].some(({ kind }) => kind === "workflow")) return {};
    const { COLON_RESOURCE_NAME: arnFormat } = ArnFormat;
    const whole = { service: "states", resource: "stateMachine", resourceName: "", arnFormat };
    return { TUNTAS_STATE_MACHINES: Stack.of(this).formatArn(whole).replace(/:$/, "") };
  }

  private deployServices(alarms: ReadonlySet<string>): void {
    const services = ofKind(this.parts, "service");
    const names = services.map(({ name }) => name);
    const entry = entryOf("services", this.props.services ?? {}, names);
    if (services.length === 0) return;
    const { props, logRetention } = this;
    const network = props.network ?? new ServiceNetwork(this, "Network");
    for (const service of services) {
      const { works: _, sends: __, starts: ___, ...given } = entry(service.name);
      this.services.set(
        service.name,
        new DeclaredService(this, service.name, {
          ...given,
          image: imageOf(service, given.image ?? props.image),
          service,
          network,
          root: props.root ?? process.cwd(),
          rights: rightsOf(this, entry(service.name)),
          environment: { ...this.whereMachinesAre(entry(service.name)), ...given.environment },
          alarms,
          logRetention,
        }),
      );
    }
  }
}

function imageOf({ name }: ServiceDefinition, image: ContainerImage | undefined): ContainerImage {
  if (image) return image;
  throw unfit(`service ${name}`, "expected an image, of the service or of the application");
}

/** What every receive of SQS would count against. */
function refuseWaits({ queue, options }: Kind<"worker">): void {
  for (const field of ["lock", "globalConcurrency", "tenants"] as const)
    if (options[field] !== undefined)
      throw unsupported(
        `worker of ${queue.name}`,
        `a queue of SQS has no ${field}; use a FIFO queue whose group is what is to be locked, bound concurrency and instances, or give a tenant its own queue`,
      );
}

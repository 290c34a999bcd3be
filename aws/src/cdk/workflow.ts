// A declared workflow as a machine of Step Functions, with the queue by which its tasks reach the workers.
import { ArnFormat, RemovalPolicy, Stack } from "aws-cdk-lib";
import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { CfnStateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import type { WorkflowDefinition } from "tuntas";
import { functionOf } from "tuntas/workflow";
import { taskQueueOf } from "tuntas/workflow/remote";
import { taskQueueVariable, translate, type Translated } from "./translate.ts";
import { watchExecutions, type Responsible, type Watch } from "./alarms.ts";
import { unfit } from "./errors.ts";
import { DeclaredQueue, tagResponsible } from "./queue.ts";
import { roleFor, toInvoke, toLogExecutions, toSendOnly } from "./rights.ts";

export interface WorkflowDeployment extends Responsible {
  /** What the machine may do besides: for states that call other services than its own tasks and Lambda functions. */
  readonly permissions?: readonly PolicyStatement[];
}

export interface DeclaredWorkflowProps extends WorkflowDeployment {
  readonly workflow: WorkflowDefinition<any>;
  readonly logRetention: RetentionDays;
  readonly watch: Watch;
}

/** A Lambda function by the ARN or the name that a document has. */
function functionArn(scope: Construct, given: string): string {
  if (given.startsWith("arn:")) return given.split(":").slice(0, 7).join(":");
  const resourceName = given.split(":").at(-2) ?? given;
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
  return Stack.of(scope).formatArn({ service: "lambda", resource: "function", resourceName, arnFormat });
}

/** What its own document needs, as far as it says so. Errors: TUNTAS_DEPLOY_OPTIONS. */
function neededBy(
  scope: Construct,
  { others }: Translated,
  { workflow, permissions = [] }: DeclaredWorkflowProps,
): PolicyStatement[] {
  const known: PolicyStatement[] = [];
  for (const { name, resource, parameters } of others) {
    const called = functionOf(resource, parameters);
    const isWritten = called !== undefined && !called.startsWith("{%");
    const given = resource.includes(":states:") ? parameters.FunctionName : resource;
    if (isWritten && typeof given === "string" && !resource.includes(":activity:"))
      known.push(toInvoke(functionArn(scope, given)));
    else if (permissions.length === 0)
      throw unfit(
        `workflow ${workflow.name}`,
        `state ${name} calls ${resource}; say what the machine may do there: workflows: { ${workflow.name}: { permissions: [new PolicyStatement(…)] } }`,
      );
  }
  return [...known, ...permissions];
}

/** Errors: TUNTAS_DEPLOY_OPTIONS, TUNTAS_DEPLOY_UNSUPPORTED. */
export class DeclaredWorkflow extends Construct {
  readonly name: string;
  readonly arn: string;
  readonly executionArns: string;
  /** Undefined where no state calls a task of the workflow. */
  readonly tasks: DeclaredQueue | undefined;

  constructor(scope: Construct, id: string, props: DeclaredWorkflowProps) {
    super(scope, id);
    const { workflow, logRetention, watch, owner, runbook } = props;
    const { name } = workflow;
    const translated = translate(workflow);
    const needed = neededBy(this, translated, props);
    this.name = name;
    this.tasks = translated.own > 0 ? this.makeTasks(props) : undefined;
    const logs = new LogGroup(this, "Log", {
      logGroupName: `/aws/vendedlogs/states/${name}`,
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const sending = this.tasks ? [toSendOnly(this.tasks.arn)] : [];
    const role = roleFor(this, "states", [...sending, ...needed, toLogExecutions()]);
    const machine = new CfnStateMachine(this, "Machine", {
      stateMachineName: name,
      stateMachineType: workflow.options.type ?? "STANDARD",
      definitionString: JSON.stringify(translated.definition, null, 2),
      ...(this.tasks && { definitionSubstitutions: { [taskQueueVariable]: this.tasks.url } }),
      roleArn: role.roleArn,
      // What people put in stays out of the log; it is in the execution's history.
      loggingConfiguration: {
        level: "ERROR",
        includeExecutionData: false,
        destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: logs.logGroupArn } }],
      },
    });
    this.arn = machine.attrArn;
    this.executionArns = Stack.of(this).formatArn({
      service: "states",
      resource: "execution",
      resourceName: `${name}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    tagResponsible(machine, { owner, runbook });
    watchExecutions(this, watch, { name, arn: this.arn, owner, runbook });
  }

  private makeTasks({ workflow, watch, owner, runbook }: DeclaredWorkflowProps): DeclaredQueue {
    const { queue, timeoutMs } = taskQueueOf(workflow, { owner, runbook });
    return new DeclaredQueue(this, "Tasks", { queue, timeoutMs, watch });
  }
}

// Step Functions as a service of the gateway: each operation with its input.
import type { Structure, ValueOf } from "../shape.ts";
import type { Call, Operation, Rooms, Service } from "../wire.ts";
import * as activities from "./activities.ts";
import * as aliases from "./aliases.ts";
import { checkMembers, checkTexts } from "./checks.ts";
import { toWireError } from "./errors.ts";
import * as executions from "./executions.ts";
import * as language from "./language.ts";
import * as machines from "./machines.ts";
import * as mapRuns from "./map-runs.ts";
import { shapes } from "./shapes.ts";
import { subjectsOf } from "./subjects.ts";
import * as tags from "./tags.ts";

type Run<I extends Structure> = (rooms: Rooms, call: Call, input: ValueOf<I>) => Promise<object>;

const service: Omit<Service, "operations"> = {
  prefix: "states",
  targetPrefix: "AWSStepFunctions",
  subjectsOf,
  ownsPath: () => false,
  rootOnly: new Set(),
  toWireError,
};

export function makeSfn(rooms: Rooms): Service {
  const operation = <I extends Structure>(input: I, run: Run<I>): Operation => ({
    input,
    output: undefined,
    run: (call, value) => {
      checkMembers(input, value);
      checkTexts(value);
      return run(rooms, call, value as never);
    },
  });

  const operations: Record<string, Operation> = {
    CreateActivity: operation(shapes.createActivity, activities.createActivity),
    CreateStateMachine: operation(shapes.createMachine, machines.createStateMachine),
    CreateStateMachineAlias: operation(shapes.createAlias, aliases.createStateMachineAlias),
    DeleteActivity: operation(shapes.activity, activities.deleteActivity),
    DeleteStateMachine: operation(shapes.deleteMachine, machines.deleteStateMachine),
    DeleteStateMachineAlias: operation(shapes.alias, aliases.deleteStateMachineAlias),
    DeleteStateMachineVersion: operation(shapes.version, machines.deleteStateMachineVersion),
    DescribeActivity: operation(shapes.activity, activities.describeActivity),
    DescribeExecution: operation(shapes.execution, executions.describeExecution),
    DescribeMapRun: operation(shapes.mapRun, mapRuns.describeMapRun),
    DescribeStateMachine: operation(shapes.machine, machines.describeStateMachine),
    DescribeStateMachineAlias: operation(shapes.alias, aliases.describeStateMachineAlias),
    DescribeStateMachineForExecution: operation(shapes.execution, machines.describeStateMachineForExecution),
    GetActivityTask: operation(shapes.getTask, activities.getActivityTask),
    GetExecutionHistory: operation(shapes.history, executions.getExecutionHistory),
    ListActivities: operation(shapes.listed, activities.listActivities),
    ListExecutions: operation(shapes.listExecutions, executions.listExecutions),
    ListMapRuns: operation(shapes.listMapRuns, mapRuns.listMapRuns),
    ListStateMachineAliases: operation(shapes.listOfMachine, aliases.listStateMachineAliases),
    ListStateMachineVersions: operation(shapes.listOfMachine, machines.listStateMachineVersions),
    ListStateMachines: operation(shapes.listed, machines.listStateMachines),
    ListTagsForResource: operation(shapes.resource, tags.listTagsForResource),
    PublishStateMachineVersion: operation(shapes.publish, machines.publishStateMachineVersion),
    RedriveExecution: operation(shapes.redrive, executions.redriveExecution),
    SendTaskFailure: operation(shapes.failure, activities.sendTaskFailure),
    SendTaskHeartbeat: operation(shapes.heartbeat, activities.sendTaskHeartbeat),
    SendTaskSuccess: operation(shapes.success, activities.sendTaskSuccess),
    StartExecution: operation(shapes.start, executions.startExecution),
    StartSyncExecution: operation(shapes.startSync, executions.startSyncExecution),
    StopExecution: operation(shapes.stop, executions.stopExecution),
    TagResource: operation(shapes.tagResource, tags.tagResource),
    TestState: operation(shapes.testState, language.testState),
    UntagResource: operation(shapes.untagResource, tags.untagResource),
    UpdateMapRun: operation(shapes.updateMapRun, mapRuns.updateMapRun),
    UpdateStateMachine: operation(shapes.updateMachine, machines.updateStateMachine),
    UpdateStateMachineAlias: operation(shapes.updateAlias, aliases.updateStateMachineAlias),
    ValidateStateMachineDefinition: operation(shapes.validate, language.validateStateMachineDefinition),
  };

  return { ...service, operations: new Map(Object.entries(operations)) };
}

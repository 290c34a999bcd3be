// The inputs of EventBridge Scheduler's operations. Source: the service's model.
import { blob, float, integer, list, map, string, structure, text, whole } from "../shape.ts";

const attribute = structure({ DataType: string, StringValue: string, BinaryValue: blob });

const name = text({ min: 1, max: 64, pattern: "^[0-9a-zA-Z-_.]+$" });
const clientToken = text({ min: 1, max: 64, pattern: "^[a-zA-Z0-9-_]+$" });
const queueArn = text({
  min: 1,
  max: 1600,
  pattern: "^arn:aws(-[a-z]+)?:sqs:[a-z0-9\\-]+:\\d{12}:[a-zA-Z0-9\\-_]+$",
});
const roleArn = text({
  min: 1,
  max: 1600,
  pattern: "^arn:aws(-[a-z]+)?:iam::\\d{12}:role\\/[\\w+=,.@\\/-]+$",
});
const keyArn = text({
  min: 1,
  max: 2048,
  pattern: "^arn:aws(-[a-z]+)?:kms:[a-z0-9\\-]+:\\d{12}:(key|alias)\\/[0-9a-zA-Z-_]*$",
});
const groupArn = text({
  min: 1,
  max: 1011,
  pattern: "^arn:aws(-[a-z]+)?:scheduler:[a-z0-9\\-]+:\\d{12}:schedule-group\\/[0-9a-zA-Z-_.]+$",
});
const state = text({ oneOf: ["ENABLED", "DISABLED"] });

const target = structure(
  {
    Arn: text({ min: 1, max: 1600 }),
    RoleArn: roleArn,
    Input: text({ min: 1 }),
    RetryPolicy: structure({
      MaximumEventAgeInSeconds: whole({ min: 60, max: 86_400 }),
      MaximumRetryAttempts: whole({ min: 0, max: 185 }),
    }),
    DeadLetterConfig: structure({ Arn: queueArn }),
    SqsParameters: structure({ MessageGroupId: text({ min: 1, max: 128 }) }),
    // Read only to be refused: nothing that they are for is carried out here.
    EcsParameters: structure({}),
    EventBridgeParameters: structure({}),
    KinesisParameters: structure({}),
    SageMakerPipelineParameters: structure({}),
  },
  ["Arn", "RoleArn"],
);

const schedule = structure(
  {
    Name: name,
    GroupName: name,
    ClientToken: clientToken,
    Description: text({ max: 512 }),
    ScheduleExpression: text({ min: 1, max: 256 }),
    ScheduleExpressionTimezone: text({ min: 1, max: 50 }),
    /** Seconds since 1970. */
    StartDate: float,
    EndDate: float,
    FlexibleTimeWindow: structure(
      { Mode: text({ oneOf: ["OFF", "FLEXIBLE"] }), MaximumWindowInMinutes: whole({ min: 1, max: 1440 }) },
      ["Mode"],
    ),
    State: state,
    ActionAfterCompletion: text({ oneOf: ["NONE", "DELETE"] }),
    KmsKeyArn: keyArn,
    Target: target,
  },
  ["Name", "ScheduleExpression", "FlexibleTimeWindow", "Target"],
);

const listMax = 200;
const tagKey = text({ min: 1, max: 128 });
const tags = list("Tag", structure({ Key: tagKey, Value: text({ min: 1, max: 256 }) }, ["Key", "Value"]), {
  max: listMax,
});
const page = {
  MaxResults: whole({ min: 1, max: 100 }),
  NamePrefix: name,
  NextToken: text({ min: 1, max: 2048 }),
} as const;

export const shapes = {
  schedule,
  oneSchedule: structure({ Name: name, GroupName: name }, ["Name"]),
  deleteSchedule: structure({ Name: name, GroupName: name, ClientToken: clientToken }, ["Name"]),
  listSchedules: structure({ ...page, GroupName: name, State: state }),

  createGroup: structure({ Name: name, ClientToken: clientToken, Tags: tags }, ["Name"]),
  oneGroup: structure({ Name: name }, ["Name"]),
  deleteGroup: structure({ Name: name, ClientToken: clientToken }, ["Name"]),
  listGroups: structure(page),

  resource: structure({ ResourceArn: groupArn }, ["ResourceArn"]),
  tagResource: structure({ ResourceArn: groupArn, Tags: tags }, ["ResourceArn", "Tags"]),
  untagResource: structure({ ResourceArn: groupArn, TagKeys: list("TagKey", tagKey, { max: listMax }) }, [
    "ResourceArn",
    "TagKeys",
  ]),

  /** What the `Input` of a universal target says, as far as it is carried out here. */
  sendMessage: structure({
    QueueUrl: string,
    MessageBody: string,
    DelaySeconds: integer,
    MessageGroupId: string,
    MessageDeduplicationId: string,
    MessageAttributes: map(["MessageAttribute", "Name", "Value"], attribute),
  }),
  startExecution: structure({ StateMachineArn: string, Input: string, Name: string }),
} as const;

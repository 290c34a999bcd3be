// The inputs of EventBridge Scheduler's operations. Source: the service's model.
import { blob, float, integer, list, map, string, structure } from "../shape.ts";

const attribute = structure({ DataType: string, StringValue: string, BinaryValue: blob });

const target = structure({
  Arn: string,
  RoleArn: string,
  Input: string,
  RetryPolicy: structure({ MaximumEventAgeInSeconds: integer, MaximumRetryAttempts: integer }),
  DeadLetterConfig: structure({ Arn: string }),
  SqsParameters: structure({ MessageGroupId: string }),
});

const schedule = structure({
  Name: string,
  GroupName: string,
  ClientToken: string,
  Description: string,
  ScheduleExpression: string,
  ScheduleExpressionTimezone: string,
  /** Seconds since 1970. */
  StartDate: float,
  EndDate: float,
  FlexibleTimeWindow: structure({ Mode: string, MaximumWindowInMinutes: integer }),
  State: string,
  ActionAfterCompletion: string,
  KmsKeyArn: string,
  Target: target,
});

const tags = list("member", structure({ Key: string, Value: string }));
const page = { MaxResults: integer, NamePrefix: string, NextToken: string } as const;

export const shapes = {
  schedule,
  oneSchedule: structure({ Name: string, GroupName: string }),
  deleteSchedule: structure({ Name: string, GroupName: string, ClientToken: string }),
  listSchedules: structure({ ...page, GroupName: string, State: string }),

  createGroup: structure({ Name: string, ClientToken: string, Tags: tags }),
  oneGroup: structure({ Name: string }),
  deleteGroup: structure({ Name: string, ClientToken: string }),
  listGroups: structure(page),

  resource: structure({ ResourceArn: string }),
  tagResource: structure({ ResourceArn: string, Tags: tags }),
  untagResource: structure({ ResourceArn: string, TagKeys: list("member", string) }),

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

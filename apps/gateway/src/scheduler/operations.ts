// EventBridge Scheduler as a service of the gateway: each operation with its route and input.
import type { Structure, ValueOf } from "../shape.ts";
import type { Call, Operation, Rooms, Route, Service } from "../wire.ts";
import { checkMembers } from "./checks.ts";
import { toWireError } from "./errors.ts";
import * as groups from "./groups.ts";
import * as schedules from "./schedules.ts";
import { shapes } from "./shapes.ts";
import { subjectsOf } from "./subjects.ts";

type Run<I extends Structure> = (rooms: Rooms, call: Call, input: ValueOf<I>) => Promise<object>;

const token = { clientToken: "ClientToken" };
const ofGroup = { groupName: "GroupName" };
const page = { MaxResults: "MaxResults", NamePrefix: "NamePrefix", NextToken: "NextToken" };

const one = (method: Route["method"], query = {}): Route => ({ method, path: "/schedules/{Name}", query });
const group = (method: Route["method"], query = {}): Route => ({
  method,
  path: "/schedule-groups/{Name}",
  query,
});
const tags = (method: Route["method"], query = {}): Route => ({ method, path: "/tags/{ResourceArn}", query });
const list = (path: string, query = {}): Route => ({ method: "GET", path, query: { ...page, ...query } });

const service: Omit<Service, "operations"> = {
  prefix: "scheduler",
  subjectsOf,
  ownsPath: () => false,
  rootOnly: new Set(),
  toWireError,
};

export function makeScheduler(rooms: Rooms): Service {
  const operation = <I extends Structure>(route: Route, input: I, run: Run<I>): Operation => ({
    route,
    input,
    output: undefined,
    run: (call, value) => {
      checkMembers(input, value);
      return run(rooms, call, value as never);
    },
  });
  const filter = { ScheduleGroup: "GroupName", State: "State" };
  const keys = { TagKeys: "TagKeys" };

  const operations: Record<string, Operation> = {
    CreateSchedule: operation(one("POST"), shapes.schedule, schedules.createSchedule),
    CreateScheduleGroup: operation(group("POST"), shapes.createGroup, groups.createScheduleGroup),
    DeleteSchedule: operation(
      one("DELETE", { ...token, ...ofGroup }),
      shapes.deleteSchedule,
      schedules.deleteSchedule,
    ),
    DeleteScheduleGroup: operation(group("DELETE", token), shapes.deleteGroup, groups.deleteScheduleGroup),
    GetSchedule: operation(one("GET", ofGroup), shapes.oneSchedule, schedules.getSchedule),
    GetScheduleGroup: operation(group("GET"), shapes.oneGroup, groups.getScheduleGroup),
    ListScheduleGroups: operation(list("/schedule-groups"), shapes.listGroups, groups.listScheduleGroups),
    ListSchedules: operation(list("/schedules", filter), shapes.listSchedules, schedules.listSchedules),
    ListTagsForResource: operation(tags("GET"), shapes.resource, groups.listTagsForResource),
    TagResource: operation(tags("POST"), shapes.tagResource, groups.tagResource),
    UntagResource: operation(tags("DELETE", keys), shapes.untagResource, groups.untagResource),
    UpdateSchedule: operation(one("PUT"), shapes.schedule, schedules.updateSchedule),
  };

  return { ...service, operations: new Map(Object.entries(operations)) };
}

// The console's API as types, which its server and its pages share. A read is `GET /console/api/NAME?…`, an act is
// `POST /console/api/NAME` with a JSON body.
import type { AlarmActs, AlarmReads } from "./alarms.ts";
import type { ApprovalActs, ApprovalReads } from "./approvals.ts";
import type { BackfillActs, BackfillReads } from "./backfills.ts";
import type { BatchActs, BatchReads } from "./batches.ts";
import type { None } from "./basics.ts";
import type { CommandActs, CommandReads } from "./commands.ts";
import type { DeadLetterActs, DeadLetterReads } from "./dead-letters.ts";
import type { HomeView } from "./home.ts";
import type { OperationActs, OperationReads } from "./operations.ts";
import type { PanelReads } from "./panels.ts";
import type { QueueActs, QueueReads } from "./queues.ts";
import type { RecordReads } from "./record.ts";
import type { SafetyActs, SafetyReads } from "./safety.ts";
import type { ScheduleActs, ScheduleReads } from "./schedules.ts";
import type { SeriesReads } from "./series.ts";
import type { ServiceActs, ServiceReads } from "./services.ts";
import type { StreamActs, StreamReads } from "./streams.ts";
import type { TryActs, TryReads } from "./tries.ts";
import type { WorkflowActs, WorkflowReads } from "./workflows.ts";

export type * from "./alarms.ts";
export type * from "./approvals.ts";
export type * from "./backfills.ts";
export type * from "./basics.ts";
export type * from "./batches.ts";
export type * from "./commands.ts";
export type * from "./dead-letters.ts";
export type * from "./home.ts";
export type * from "./operations.ts";
export type * from "./panels.ts";
export type * from "./queues.ts";
export type * from "./record.ts";
export type * from "./safety.ts";
export type * from "./schedules.ts";
export type * from "./series.ts";
export type * from "./services.ts";
export type * from "./session.ts";
export type * from "./streams.ts";
export type * from "./tries.ts";
export type * from "./workflows.ts";

export interface Reads
  extends
    OperationReads,
    CommandReads,
    AlarmReads,
    ApprovalReads,
    BackfillReads,
    BatchReads,
    PanelReads,
    QueueReads,
    DeadLetterReads,
    SafetyReads,
    RecordReads,
    ScheduleReads,
    SeriesReads,
    ServiceReads,
    StreamReads,
    TryReads,
    WorkflowReads {
  home: { query: None; answer: HomeView };
}

export interface Acts
  extends
    OperationActs,
    CommandActs,
    AlarmActs,
    ApprovalActs,
    BackfillActs,
    BatchActs,
    QueueActs,
    DeadLetterActs,
    SafetyActs,
    ScheduleActs,
    ServiceActs,
    StreamActs,
    TryActs,
    WorkflowActs {}

export type ReadName = keyof Reads;
export type ActName = keyof Acts;
export type QueryOf<N extends ReadName> = Reads[N]["query"];
export type AnswerOf<N extends ReadName> = Reads[N]["answer"];
export type BodyOf<N extends ActName> = Acts[N]["body"];
export type OutcomeOf<N extends ActName> = Acts[N]["answer"];

// The command table, in the order of the help.
import type { Command } from "../command.ts";
import { check } from "./check.ts";
import { dev } from "./dev.ts";
import { dlqList } from "./dlq/list.ts";
import { dlqReject } from "./dlq/reject.ts";
import { dlqReplay } from "./dlq/replay.ts";
import { dlqShow } from "./dlq/show.ts";
import { doctor } from "./doctor.ts";
import { help } from "./help.ts";
import { messageExplain, messageShow } from "./message/explain.ts";
import { messagePeek } from "./message/peek.ts";
import { messageReceive } from "./message/receive.ts";
import { messageSend } from "./message/send.ts";
import { queueCreate } from "./queue/create.ts";
import { queueDelete } from "./queue/delete.ts";
import { queueDiagnose } from "./queue/diagnose.ts";
import { queueList } from "./queue/list.ts";
import { queuePause, queueResume } from "./queue/pause.ts";
import { queuePurge } from "./queue/purge.ts";
import { queueRedrive } from "./queue/redrive.ts";
import { queueShow } from "./queue/show.ts";
import { serve } from "./serve.ts";
import { version } from "./version.ts";

export const commands: readonly Command[] = [
  serve,
  dev,
  doctor,
  check,
  queueList,
  queueShow,
  queueCreate,
  queueDelete,
  queuePause,
  queueResume,
  queuePurge,
  queueRedrive,
  queueDiagnose,
  messageSend,
  messageReceive,
  messagePeek,
  messageExplain,
  messageShow,
  dlqList,
  dlqShow,
  dlqReplay,
  dlqReject,
  version,
  help(() => commands),
];

// The command table, in the order of the help.
import type { Command } from "../command.ts";
import { alarmList } from "./alarm/list.ts";
import { alarmRemove } from "./alarm/remove.ts";
import { alarmShow } from "./alarm/show.ts";
import { alarmTest } from "./alarm/test.ts";
import { approvalDelegate, approvalEscalate, approvalWithdraw } from "./approval/acts.ts";
import { approvalApprove, approvalReject } from "./approval/decide.ts";
import { approvalList } from "./approval/list.ts";
import { approvalShow } from "./approval/show.ts";
import { budgetCheck } from "./budget/check.ts";
import { changeAdvance, changeBack } from "./change/acts.ts";
import { changeList } from "./change/list.ts";
import { changeShow } from "./change/show.ts";
import { check } from "./check.ts";
import { chooseShape } from "./choose.ts";
import { commandActs, commandClose } from "./command/acts.ts";
import { commandList } from "./command/list.ts";
import { commandRun } from "./command/run.ts";
import { commandCheck, commandOutput, commandShow } from "./command/show.ts";
import { compensationRetry, compensationSettle } from "./compensation/decide.ts";
import { compensationList } from "./compensation/list.ts";
import { costEstimate } from "./cost/estimate.ts";
import { costPolling } from "./cost/polling.ts";
import { costPrices } from "./cost/prices.ts";
import { dev } from "./dev.ts";
import { discrepancyApprove, discrepancyDismiss } from "./discrepancy/decide.ts";
import { discrepancyList } from "./discrepancy/list.ts";
import { discrepancyRepair } from "./discrepancy/repair.ts";
import { discrepancyShow } from "./discrepancy/show.ts";
import { dlqList } from "./dlq/list.ts";
import { dlqReject } from "./dlq/reject.ts";
import { dlqReplay } from "./dlq/replay.ts";
import { dlqShow } from "./dlq/show.ts";
import { doctor } from "./doctor.ts";
import { drill } from "./drill.ts";
import { explain } from "./explain.ts";
import { effectAsk } from "./effect/ask.ts";
import { effectList } from "./effect/list.ts";
import { effectSettle } from "./effect/settle.ts";
import { effectShow } from "./effect/show.ts";
import { health } from "./health.ts";
import { help } from "./help.ts";
import { labStop } from "./lab/stop.ts";
import { leaseFree } from "./lease/free.ts";
import { leaseList } from "./lease/list.ts";
import { keyCreate } from "./key/create.ts";
import { keyList } from "./key/list.ts";
import { keyRevoke } from "./key/revoke.ts";
import { messageExplain, messageShow } from "./message/explain.ts";
import { messagePeek } from "./message/peek.ts";
import { messageReceive } from "./message/receive.ts";
import { messageSend } from "./message/send.ts";
import { migrationRun } from "./migration/run.ts";
import { operationList } from "./operation/list.ts";
import { operationPreview } from "./operation/preview.ts";
import { operationRate } from "./operation/rate.ts";
import { operationWords } from "./operation/say.ts";
import { operationShow } from "./operation/show.ts";
import { operationStart } from "./operation/start.ts";
import { newWork } from "./new.ts";
import { outboxDiscard } from "./outbox/discard.ts";
import { outboxList } from "./outbox/list.ts";
import { outboxRetry } from "./outbox/retry.ts";
import { outboxShow } from "./outbox/show.ts";
import { queueCreate } from "./queue/create.ts";
import { queueDelete } from "./queue/delete.ts";
import { queueDiagnose } from "./queue/diagnose.ts";
import { queueList } from "./queue/list.ts";
import { queuePause, queueResume } from "./queue/pause.ts";
import { queuePurge } from "./queue/purge.ts";
import { queueRedrive } from "./queue/redrive.ts";
import { queueShow } from "./queue/show.ts";
import { queueTenants } from "./queue/tenants.ts";
import { readiness } from "./readiness.ts";
import { reconcileList } from "./reconcile/list.ts";
import { reconcileRun } from "./reconcile/run.ts";
import { reservationList } from "./reservation/list.ts";
import { reservationRelease } from "./reservation/release.ts";
import { backfillActs } from "./backfill/acts.ts";
import { backfillList } from "./backfill/list.ts";
import { backfillPlan } from "./backfill/plan.ts";
import { backfillRate } from "./backfill/rate.ts";
import { backfillShow } from "./backfill/show.ts";
import { batchCancel, batchPause, batchResume, batchRetry } from "./batch/acts.ts";
import { batchList } from "./batch/list.ts";
import { batchShow } from "./batch/show.ts";
import { batchStart } from "./batch/start.ts";
import { schedulePause, scheduleRemove, scheduleResume, scheduleRun } from "./schedule/acts.ts";
import { scheduleList } from "./schedule/list.ts";
import { scheduleNext } from "./schedule/next.ts";
import { scheduleShow } from "./schedule/show.ts";
import { review } from "./review.ts";
import { serve } from "./serve.ts";
import { serviceScale, serviceStop } from "./service/count.ts";
import { serviceDeploy, serviceRollback } from "./service/deploy.ts";
import { serviceDescribe } from "./service/describe.ts";
import { serviceList } from "./service/list.ts";
import { serviceLog } from "./service/log.ts";
import { serviceOutput } from "./service/output.ts";
import { serviceFront, serviceRun } from "./service/run.ts";
import { streamForget, streamResume, streamRewind } from "./stream/consumer.ts";
import { streamList } from "./stream/list.ts";
import { streamDiscard, streamParked, streamReplay } from "./stream/parked.ts";
import { streamShow } from "./stream/show.ts";
import { tenantReaders } from "./tenant/readers.ts";
import { tenantUsage } from "./tenant/usage.ts";
import { userAdd } from "./user/add.ts";
import { userList } from "./user/list.ts";
import { userPasswd } from "./user/passwd.ts";
import { userRemove } from "./user/remove.ts";
import { userRole } from "./user/role.ts";
import { version } from "./version.ts";
import { workflowDescribe } from "./workflow/describe.ts";
import { workflowGraph } from "./workflow/graph.ts";
import { workflowHistory } from "./workflow/history.ts";
import { workflowInspect } from "./workflow/inspect.ts";
import { workflowList } from "./workflow/list.ts";
import { workflowRedrive } from "./workflow/redrive.ts";
import { workflowStart } from "./workflow/start.ts";
import { workflowStop } from "./workflow/stop.ts";
import { workflowTest } from "./workflow/test.ts";

export const commands: readonly Command[] = [
  newWork,
  chooseShape,
  explain,
  review,
  serve,
  dev,
  doctor,
  health,
  check,
  costEstimate,
  costPolling,
  costPrices,
  budgetCheck,
  drill,
  readiness,
  migrationRun,
  changeList,
  changeShow,
  changeAdvance,
  changeBack,
  queueList,
  queueShow,
  queueTenants,
  queueCreate,
  queueDelete,
  queuePause,
  queueResume,
  queuePurge,
  queueRedrive,
  queueDiagnose,
  tenantUsage,
  tenantReaders,
  messageSend,
  messageReceive,
  messagePeek,
  messageExplain,
  messageShow,
  dlqList,
  dlqShow,
  dlqReplay,
  dlqReject,
  operationList,
  operationShow,
  operationPreview,
  operationStart,
  ...operationWords,
  operationRate,
  commandList,
  commandShow,
  commandRun,
  ...commandActs,
  commandClose,
  commandOutput,
  commandCheck,
  workflowList,
  workflowDescribe,
  workflowHistory,
  workflowStart,
  workflowStop,
  workflowTest,
  workflowGraph,
  workflowInspect,
  workflowRedrive,
  batchList,
  batchShow,
  batchStart,
  batchPause,
  batchResume,
  batchRetry,
  batchCancel,
  backfillList,
  backfillShow,
  backfillPlan,
  ...backfillActs,
  backfillRate,
  scheduleList,
  scheduleShow,
  scheduleNext,
  scheduleRun,
  schedulePause,
  scheduleResume,
  scheduleRemove,
  streamList,
  streamShow,
  streamRewind,
  streamResume,
  streamForget,
  streamParked,
  streamReplay,
  streamDiscard,
  serviceList,
  serviceDescribe,
  serviceDeploy,
  serviceRollback,
  serviceScale,
  serviceStop,
  labStop,
  serviceLog,
  serviceOutput,
  serviceRun,
  serviceFront,
  approvalList,
  approvalShow,
  approvalApprove,
  approvalReject,
  approvalDelegate,
  approvalEscalate,
  approvalWithdraw,
  outboxList,
  outboxShow,
  outboxRetry,
  outboxDiscard,
  effectList,
  effectShow,
  effectAsk,
  effectSettle,
  compensationList,
  compensationRetry,
  compensationSettle,
  reservationList,
  reservationRelease,
  leaseList,
  leaseFree,
  reconcileList,
  reconcileRun,
  discrepancyList,
  discrepancyShow,
  discrepancyApprove,
  discrepancyRepair,
  discrepancyDismiss,
  alarmList,
  alarmShow,
  alarmTest,
  alarmRemove,
  userAdd,
  userList,
  userRole,
  userPasswd,
  userRemove,
  keyCreate,
  keyList,
  keyRevoke,
  version,
  help(() => commands),
];

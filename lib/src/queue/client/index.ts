// The asking side of the queue room, as the apps and the rooms above see it.
import type { Catalog } from "./catalog.ts";
import { makeCatalog } from "./catalog.ts";
import type { QueueContext } from "./context.ts";
import type { Moves } from "./moves.ts";
import { makeMoves } from "./moves.ts";
import type { ReceiptResult, Receipts } from "./receipts.ts";
import { makeReceipts } from "./receipts.ts";
import type { Receiver, ReceiveRequest } from "./receive.ts";
import { makeReceiver } from "./receive.ts";
import type { Sender } from "./send.ts";
import { makeSender } from "./send.ts";
import type { Inspector } from "./inspector.ts";
import { makeInspector } from "./inspector.ts";
import type { Observer } from "./observer.ts";
import { makeObserver } from "./observer.ts";
import { makeDeadLetters, type DeadLetters } from "./dead-letters.ts";
import { makeResend, type Resend } from "./resend.ts";

export interface Queues {
  readonly catalog: Catalog;
  readonly sender: Sender;
  readonly receiver: Receiver;
  readonly receipts: Receipts;
  readonly moves: Moves;
  readonly deadLetters: DeadLetters;
  /** Sends a dead letter anew with what was wrong put right, and ends it. */
  readonly resend: Resend;
  readonly inspector: Inspector;
  readonly observer: Observer;
}

export function makeQueues(context: QueueContext): Queues {
  const catalog = makeCatalog(context);
  const sender = makeSender(context);
  const deadLetters = makeDeadLetters(context);
  return {
    catalog,
    sender,
    receiver: makeReceiver(context, catalog),
    receipts: makeReceipts(context),
    moves: makeMoves(context),
    deadLetters,
    resend: makeResend(context, { catalog, sender, deadLetters }),
    inspector: makeInspector(context),
    observer: makeObserver(context),
  };
}

export type {
  DeadLetter,
  DeadLetterResult,
  DeadLetters,
  DeadLetterSurvey,
  ReplayTerms,
} from "./dead-letters.ts";
export type {
  Explanation,
  Facts,
  Glimpse,
  Inspector,
  LiveMessage,
  LiveState,
  Observation,
  Reason,
  Sign,
  TenantView,
} from "./inspector.ts";
export type {
  LiveProcess,
  Observer,
  Place,
  QueueConsumer,
  QueueSurvey,
  SurveyPage,
  Whereabouts,
} from "./observer.ts";
export type { Correction, Resend, Resent } from "./resend.ts";
export type { Catalog, Moves, QueueContext, ReceiptResult, Receipts, Receiver, ReceiveRequest, Sender };

// What other processes announce, passed on to whoever waits for it here. A notification only wakes: what is missed while the
// connection is away is looked for when it is back.
import type { Company } from "./engine/process/company.ts";
import type { Waker } from "./engine/wake.ts";
import type { Watch } from "./measure/watch.ts";
import { operationKey } from "./operation/client.ts";
import { outboxKey } from "./outbox/relay/index.ts";
import type { Database } from "./pg/database.ts";
import { listen, type Listener } from "./pg/listen.ts";
import type { Notifier } from "./pg/notify.ts";
import { readyKey } from "./queue/client/context.ts";
import type { Queues } from "./queue/client/index.ts";
import type { Mailbox } from "./queue/handover/mailbox.ts";
import { serviceKey } from "./service/client.ts";
import { streamKey } from "./stream/wake.ts";
import { activityKey, begunKey, ownKey } from "./workflow/worker/index.ts";

interface Hearing {
  readonly waker: Waker;
  readonly notifier: Notifier;
  readonly company: Company;
  readonly mailbox: Mailbox;
  readonly queues: Queues;
  readonly watch: Watch;
}

/** What each channel has this process do. */
function channelsOf({
  waker,
  company,
  queues,
  watch,
  mailbox,
}: Hearing): Record<string, (payload: string) => void> {
  return {
    [mailbox.channel]: mailbox.hear,
    ready: (queueId) => waker.wake(readyKey(Number(queueId))),
    queue: (queueId) => queues.catalog.forget(Number(queueId)),
    stream: (word) => waker.wake(streamKey(word)),
    outbox: () => waker.wake(outboxKey),
    activity: (arn) => waker.wake(activityKey(arn)),
    own: () => waker.wake(ownKey),
    begun: () => waker.wake(begunKey),
    operation: () => waker.wake(operationKey),
    service: () => waker.wake(serviceKey),
    company: company.came,
    duty() {
      waker.wake(serviceKey);
      void watch.sampler.consider();
    },
  };
}

export function hear(database: Database, hearing: Hearing): Listener {
  const { waker, notifier, company, queues, watch, mailbox } = hearing;
  const channels = channelsOf(hearing);
  return listen(database, {
    channels: Object.keys(channels),
    onNotify: (channel, payload) => channels[channel]!(payload),
    onConnect: () => {
      company.came();
      notifier.notify("company", "");
      queues.catalog.forget();
      waker.wakeAll();
      void watch.sampler.consider();
      mailbox.connected(true);
    },
    onLost: () => mailbox.connected(false),
  });
}

/** Says to the other processes that there are tasks. */
export const announcedBy = ({ notify }: Notifier) => ({
  announceActivity: (arn: string) => notify("activity", arn),
  announceOwn: (revision: string) => notify("own", revision),
});

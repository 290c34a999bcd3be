// When a worker says that it rests. Its offer stands while it has places free, whether it is at something or not: nothing is
// written for a message. Who is full takes it back, and does not offer again for a while, so that a busy worker writes little.
import type { Mailbox, Take } from "./mailbox.ts";

export interface Offer {
  /** The worker waits for messages, or goes on. */
  rests(resting: boolean): void;
  /** It holds more or less than before. */
  changed(): void;
  /** Resolves once nothing more is handed over to it. */
  close(): Promise<void>;
}

/** How long a worker is full before it says so: most handlers are over sooner. */
const fullMs = 10;
const againMs = 1000;

/** A worker to which nothing is handed over. */
export const noOffer: Offer = {
  rests: () => undefined,
  changed: () => undefined,
  close: () => Promise.resolve(),
};

export interface OfferParts {
  readonly mailbox: Pick<Mailbox, "offers" | "attach">;
  readonly queueId: number;
  readonly take: Take;
  readonly isFull: () => boolean;
}

export function makeOffer({ mailbox, queueId, take, isFull }: OfferParts): Offer {
  const { offers } = mailbox;
  let resting = false;
  let notBefore = 0;
  let timer: NodeJS.Timeout | undefined;

  const withholds = () => (notBefore = performance.now() + againMs);
  const detach = mailbox.attach(queueId, (message) => {
    const taken = take(message);
    if (!taken) withholds();
    return taken;
  });

  /** Whether it is to stand. */
  const isRight = (): boolean => !isFull() && (resting || offers.stands(queueId));

  function decide(): void {
    timer = undefined;
    const stands = offers.stands(queueId);
    if (isRight() === stands) return;
    if (!stands) return offers.stand(queueId);
    withholds();
    void offers.withdraw(queueId);
  }

  function changed(): void {
    const stands = offers.stands(queueId);
    if (timer || isRight() === stands) return;
    timer = setTimeout(decide, stands ? fullMs : Math.max(0, notBefore - performance.now()));
    timer.unref();
  }

  return {
    changed,
    rests(now) {
      resting = now;
      changed();
    },
    async close() {
      resting = false;
      clearTimeout(timer);
      await detach();
    },
  };
}

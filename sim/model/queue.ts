// The oracle of a queue: what SQS's rules make of a sequence of commands, in memory and with a clock that is a number.
// As simple as the rules can be said; slow, and obviously right.

export interface ModelOptions {
  readonly fifo: boolean;
  readonly visibilitySeconds: number;
  /** Received this often without being deleted, a message is dead. */
  readonly receivesMax: number;
}

interface Message {
  readonly order: number;
  readonly body: string;
  readonly group: string;
  /** Hidden until then: delayed, or in flight; for ever in a worker's hands. */
  hiddenUntil: number;
  receives: number;
  /** The receipt that holds it, whether or not its time has run out. */
  receipt: number;
  /** When a sender handed it over to a worker. */
  handedOverAt?: number;
}

/** How a worker ends a message: done, failed, or never begun, which is as if it had not been received. */
export const endings = ["done", "retry", "back"] as const;
export type Ending = (typeof endings)[number];

/** A sender hands nothing over to a worker whose process was last heard of so long ago. */
const heardWithinSeconds = 2;

export interface Received {
  readonly body: string;
  readonly receives: number;
  readonly receipt: number;
}

export class QueueModel {
  readonly dead: string[] = [];
  /** How often a sender handed a message over. */
  handedOver = 0;
  private readonly options: ModelOptions;
  private messages: Message[] = [];
  private readonly duplicates = new Map<string, number>();
  private now = 0;
  private orders = 0;
  private receipts = 0;
  private rests = false;
  private heardAt = -Infinity;

  constructor(options: ModelOptions) {
    this.options = options;
  }

  advance(seconds: number): void {
    this.now += seconds;
  }

  /** False where a FIFO queue had a message with this deduplication id within five minutes. */
  send(body: string, options: { group: string; deduplicationId: string; delaySeconds: number }): boolean {
    if (this.options.fifo) {
      if ((this.duplicates.get(options.deduplicationId) ?? -Infinity) > this.now) return false;
      this.duplicates.set(options.deduplicationId, this.now + 300);
    }
    const delaySeconds = this.options.fifo ? 0 : options.delaySeconds;
    const message = { order: this.orders++, body, group: options.group, receipt: -1 };
    if (delaySeconds === 0 && this.isTaker()) {
      this.handedOver++;
      this.messages.push({ ...message, hiddenUntil: Infinity, receives: 1, handedOverAt: this.now });
    } else this.messages.push({ ...message, hiddenUntil: this.now + delaySeconds, receives: 0 });
    return true;
  }

  /** The worker's process says that it lives. */
  beat(): void {
    this.heardAt = this.now;
  }

  /** The worker offers to take what is sent, and is heard of. */
  rest(): void {
    this.beat();
    this.rests = true;
  }

  /** It takes its offer back. */
  withdraw(): void {
    this.rests = false;
  }

  private isTaker(): boolean {
    return !this.options.fifo && this.rests && this.now - this.heardAt < heardWithinSeconds;
  }

  /** What senders have handed over to the worker, and it has not ended. */
  inHands(): { body: string; receives: number }[] {
    return this.handed().map(({ body, receives }) => ({ body, receives }));
  }

  private handed(): Message[] {
    return this.messages.filter(({ handedOverAt }) => handedOverAt !== undefined);
  }

  settle(body: string, ending: Ending): void {
    const message = this.handed().find((each) => each.body === body)!;
    if (ending === "done") this.messages = this.messages.filter((each) => each !== message);
    else this.putBack(message, ending === "retry");
  }

  /** The worker's process dies. What was handed over since it was last heard of, it may never have seen. */
  die(): void {
    for (const message of this.handed()) this.putBack(message, message.handedOverAt! <= this.heardAt);
    this.withdraw();
    this.heardAt = -Infinity;
  }

  private putBack(message: Message, counts: boolean): void {
    message.hiddenUntil = this.now;
    message.receives -= counts ? 0 : 1;
    delete message.handedOverAt;
  }

  /** What may be received now, in the order of a FIFO queue: nothing of a group behind a message that is hidden. */
  private visible(): Message[] {
    const blocked = new Set<string>();
    return this.messages.filter((message) => {
      if (this.options.fifo && blocked.has(message.group)) return false;
      if (message.hiddenUntil <= this.now) return true;
      blocked.add(message.group);
      return false;
    });
  }

  private bury(message: Message): void {
    this.messages = this.messages.filter((each) => each !== message);
    this.dead.push(message.body);
  }

  /** The messages that a receive of everything gets; those that were received too often die instead. */
  receiveAll(): Received[] {
    const visible = this.visible();
    for (const message of visible) if (message.receives >= this.options.receivesMax) this.bury(message);
    const taken = visible.filter((message) => message.receives < this.options.receivesMax);
    for (const message of taken) {
      message.receives++;
      message.receipt = this.receipts++;
      message.hiddenUntil = this.now + this.options.visibilitySeconds;
    }
    return taken.map(({ body, receives, receipt }) => ({ body, receives, receipt }));
  }

  private held(receipt: number): Message | undefined {
    const message = this.messages.find((each) => each.receipt === receipt);
    // A FIFO receipt is worth nothing once its time has run out.
    return message && this.options.fifo && message.hiddenUntil <= this.now ? undefined : message;
  }

  delete(receipt: number): void {
    const message = this.held(receipt);
    if (message) this.messages = this.messages.filter((each) => each !== message);
  }

  change(receipt: number, seconds: number): void {
    const message = this.held(receipt);
    if (message) message.hiddenUntil = this.now + seconds;
  }

  counts(): { ready: number; hidden: number } {
    const hidden = this.messages.filter(({ hiddenUntil }) => hiddenUntil > this.now).length;
    return { ready: this.messages.length - hidden, hidden };
  }
}

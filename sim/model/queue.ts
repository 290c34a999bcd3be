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
  /** Hidden until then: delayed, or in flight. */
  hiddenUntil: number;
  receives: number;
  /** The receipt that holds it, whether or not its time has run out. */
  receipt: number;
}

export interface Received {
  readonly body: string;
  readonly receives: number;
  readonly receipt: number;
}

export class QueueModel {
  readonly dead: string[] = [];
  private readonly options: ModelOptions;
  private messages: Message[] = [];
  private readonly duplicates = new Map<string, number>();
  private now = 0;
  private orders = 0;
  private receipts = 0;

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
    const hiddenUntil = this.options.fifo ? this.now : this.now + options.delaySeconds;
    this.messages.push({
      order: this.orders++,
      body,
      group: options.group,
      hiddenUntil,
      receives: 0,
      receipt: -1,
    });
    return true;
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

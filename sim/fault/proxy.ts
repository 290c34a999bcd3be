// A wire between a process and PostgreSQL that can be cut at the worst instant. It knows just enough of the protocol to
// see where a message ends, what commits, and what is a notification.
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** What the wire does to the next commit: the server never sees it, the client never hears of it, or is gone before it. */
export type Cut = "before commit" | "after commit" | "late commit";

export type Notifications = "pass" | "lost" | "doubled";

export interface Wire extends AsyncDisposable {
  readonly url: string;
  /** How many statements or transactions the server has ended here. */
  readonly ended: number;
  /** How often a cut has found its statement. */
  readonly cuts: number;
  notifications: Notifications;
  /** Cuts the connection that commits next, or the next one that runs such a statement; resolves once one was found. */
  cutNext(cut: Cut, statement?: RegExp): Promise<void>;
  /** Has the server run the statements whose clients are gone. */
  deliverLate(): void;
  /** Lets nothing through for a while, as a broken network does, and nobody is told. */
  partition(ms: number): void;
  /** Closes every connection at once. */
  reset(): void;
  /** Closes every connection, and each new one for a while, as a server that starts again does. */
  refuse(ms: number): void;
  /** Lets no further connection in for a while, as a server does that has none left. */
  turnAway(ms: number): void;
  /** No cut is waiting, notifications pass, connections are let in, and the partition is over. */
  heal(): void;
  /** The ports that the server sees this wire's connections come from. */
  serverPorts(): number[];
}

const notification = "A".charCodeAt(0);
const readyForQuery = "Z".charCodeAt(0);
const bind = "B".charCodeAt(0);
const sync = "S".charCodeAt(0);
const idle = "I".charCodeAt(0);

/** Splits a stream of PostgreSQL's messages (a type, a length, a body) into whole ones. */
export class Splitter {
  private kept: Buffer = Buffer.alloc(0);
  /** The client's first message has no type. */
  private typed: boolean;

  constructor(typed: boolean) {
    this.typed = typed;
  }

  push(chunk: Buffer): Buffer[] {
    this.kept = this.kept.length === 0 ? chunk : Buffer.concat([this.kept, chunk]);
    const messages: Buffer[] = [];
    for (let size = this.next(); size > 0; size = this.next()) {
      messages.push(this.kept.subarray(0, size));
      this.kept = this.kept.subarray(size);
      this.typed = true;
    }
    return messages;
  }

  /** The size of the first whole message that is here, or 0. */
  private next(): number {
    const head = this.typed ? 1 : 0;
    if (this.kept.length < head + 4) return 0;
    const size = head + this.kept.readUInt32BE(head);
    return this.kept.length >= size ? size : 0;
  }
}

/** What PostgreSQL says where all its connections are taken (53300). */
function tooManyClients(): Buffer {
  const fields = ["SFATAL", "VFATAL", "C53300", "Msorry, too many clients already", ""];
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(""));
  const head = Buffer.from("E\0\0\0\0");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

interface Line {
  readonly client: Socket;
  readonly server: Socket;
  /** The texts of its prepared statements, by name. */
  readonly prepared: Map<string, string>;
  cut: Cut | undefined;
  /** What the server gets when the client is gone. */
  readonly late: Buffer[];
  /** Answers to a client that shall perhaps not hear them. */
  readonly withheld: Buffer[];
}

function destroy({ client, server }: Line): void {
  client.destroy();
  server.destroy();
}

/** One write for all: each would wake the other side. */
function pass(messages: readonly Buffer[], to: Socket): void {
  if (messages.length > 0) to.write(messages.length === 1 ? messages[0]! : Buffer.concat(messages));
}

/** Changes something by itself, or ends a transaction. Of prepared statements any may: some call functions that do. */
const changes = (text: string, message: Buffer): boolean =>
  message[0] === bind || /commit|insert|update|delete/i.test(text);

/** What the message runs; undefined where it runs nothing. */
function textOf({ prepared }: Line, message: Buffer): string | undefined {
  const type = String.fromCharCode(message[0]!);
  if (!"QPB".includes(type)) return undefined;
  const [first, second] = message.toString("latin1", 5).split("\0") as [string, string];
  if (type === "P") prepared.set(first, second);
  return { Q: first, P: undefined, B: prepared.get(second) }[type];
}

class FaultyWire {
  notifications: Notifications = "pass";
  ended = 0;
  cuts = 0;
  private pending:
    { readonly cut: Cut; readonly strikes: typeof changes; readonly struck: () => void } | undefined;
  private late: Line[] = [];
  private refusedUntil = 0;
  private turnedAwayUntil = 0;
  private readonly lines = new Set<Line>();
  private partitionTimer: NodeJS.Timeout | undefined;

  cutNext(cut: Cut, statement?: RegExp): Promise<void> {
    const strikes: typeof changes = statement ? (text) => statement.test(text) : changes;
    return new Promise((struck) => (this.pending = { cut, strikes, struck }));
  }

  deliverLate(): void {
    for (const { server, late } of this.late.splice(0)) server.write(Buffer.concat(late));
  }

  partition(ms: number): void {
    clearTimeout(this.partitionTimer);
    this.pause(true);
    this.partitionTimer = setTimeout(() => this.pause(false), ms);
  }

  reset(): void {
    for (const line of this.lines) destroy(line);
  }

  refuse(ms: number): void {
    this.refusedUntil = performance.now() + ms;
    this.reset();
  }

  turnAway(ms: number): void {
    this.turnedAwayUntil = performance.now() + ms;
  }

  heal(): void {
    this.refusedUntil = 0;
    this.turnedAwayUntil = 0;
    this.pending = undefined;
    this.notifications = "pass";
    clearTimeout(this.partitionTimer);
    this.pause(false);
  }

  serverPorts(): number[] {
    return [...this.lines].flatMap(({ server }) => server.localPort ?? []);
  }

  private get partitioned(): boolean {
    return this.lines.size > 0 && [...this.lines].some(({ client }) => client.isPaused());
  }

  private pause(paused: boolean): void {
    for (const { client, server } of this.lines) {
      for (const socket of [client, server]) {
        if (paused) socket.pause();
        else socket.resume();
      }
    }
  }

  join(client: Socket, port: number): void {
    const now = performance.now();
    if (now < this.refusedUntil) return void client.destroy();
    if (now < this.turnedAwayUntil) {
      client.on("error", () => client.destroy());
      return void client.once("data", () => client.end(tooManyClients()));
    }
    const server = connect(port, "127.0.0.1");
    const line: Line = { client, server, prepared: new Map(), cut: undefined, late: [], withheld: [] };
    const paused = this.partitioned;
    this.lines.add(line);
    const end = () => {
      this.lines.delete(line);
      if (!this.late.includes(line)) destroy(line);
    };
    for (const socket of [line.client, line.server]) {
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
      if (paused) socket.pause();
    }
    const asked = new Splitter(false);
    const answered = new Splitter(true);
    line.client.on("data", (chunk) => this.forward(line, asked.push(chunk)));
    line.server.on("data", (chunk) => this.backward(line, answered.push(chunk)));
  }

  private forward(line: Line, messages: readonly Buffer[]): void {
    const onward: Buffer[] = [];
    for (const message of messages) {
      const text = textOf(line, message);
      if (text !== undefined && this.pending?.strikes(text, message)) {
        line.cut = this.pending.cut;
        this.cuts++;
        this.pending.struck();
        this.pending = undefined;
      }
      if (line.cut === "before commit") {
        pass(onward, line.server);
        return destroy(line);
      }
      if (line.cut === "late commit") this.keep(line, message);
      else onward.push(message);
    }
    pass(onward, line.server);
  }

  private keep(line: Line, message: Buffer): void {
    line.late.push(message);
    if (message[0] !== sync) return;
    this.late.push(line);
    line.client.destroy();
  }

  private backward(line: Line, messages: readonly Buffer[]): void {
    const onward: Buffer[] = [];
    for (const message of messages) {
      const ends = message[0] === readyForQuery;
      if (ends && message[5] === idle) this.ended++;
      if (line.cut === "after commit") {
        line.withheld.push(message);
        // Outside a transaction all that was asked is committed; inside it nothing is.
        if (ends && message[5] === idle) {
          pass(onward, line.client);
          return destroy(line);
        }
        if (ends) onward.push(...line.withheld.splice(0));
        continue;
      }
      const times = message[0] === notification ? { pass: 1, lost: 0, doubled: 2 }[this.notifications] : 1;
      for (let n = 0; n < times; n++) onward.push(message);
    }
    pass(onward, line.client);
  }
}

/** Opens a wire to the server of `url`. */
export async function openWire(url: string): Promise<Wire> {
  const target = new URL(url);
  const port = Number(target.port || 5432);
  const wire = new FaultyWire();
  const server: Server = createServer((client) => wire.join(client, port));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  target.hostname = "127.0.0.1";
  target.port = String((server.address() as AddressInfo).port);
  return Object.assign(wire, {
    url: target.href,
    async [Symbol.asyncDispose]() {
      wire.heal();
      wire.reset();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

// What a client says to PostgreSQL, as bytes. The driver makes a buffer of each message, and the socket a list of them;
// for a transaction of two short statements that is eleven, and they cost as much as all the rest of the sending. Here
// the messages of a burst become one.

/** A parameter as it is sent: text, bytes in the binary format, or null. */
export type Parameter = string | Buffer | null;

const code = { parse: 0x50, bind: 0x42, describe: 0x44, execute: 0x45, close: 0x43, sync: 0x53 } as const;
const aStatement = 0x53;
const aPortal = 0x50;

// A burst hardly ever has more; the room of one that has is not kept.
const usualBytes = 64 * 1024;

/** The most bytes of UTF-8 that a unit of UTF-16 takes. */
const bytesPerUnit = 3;

export interface Messages {
  /** Where the next message begins. */
  readonly length: number;
  parse(name: string, text: string): void;
  /** Binds the unnamed portal; its rows come as text. */
  bind(name: string, values: readonly Parameter[]): void;
  describe(): void;
  execute(): void;
  close(name: string): void;
  sync(): void;
  /** Takes back what was said from there on. */
  cut(length: number): void;
  /** All of it, and begins anew. */
  take(): Buffer;
}

export function makeMessages(): Messages {
  let bytes = Buffer.allocUnsafe(usualBytes);
  let at = 0;

  function reserve(count: number): void {
    if (at + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (at + count));
    bytes.copy(larger, 0, 0, at);
    bytes = larger;
  }

  function int16(value: number): void {
    bytes[at++] = value >>> 8;
    bytes[at++] = value;
  }

  function int32(value: number, place: number): void {
    bytes[place] = value >>> 24;
    bytes[place + 1] = value >>> 16;
    bytes[place + 2] = value >>> 8;
    bytes[place + 3] = value;
  }

  function text(value: string): void {
    reserve(bytesPerUnit * value.length + 1);
    at += bytes.write(value, at);
    bytes[at++] = 0;
  }

  function parameter(value: Parameter): void {
    if (value === null) {
      reserve(4);
      int32(-1, at);
      at += 4;
      return;
    }
    const isText = typeof value === "string";
    reserve(4 + (isText ? bytesPerUnit : 1) * value.length);
    const length = isText ? bytes.write(value, at + 4) : value.copy(bytes, at + 4);
    int32(length, at);
    at += 4 + length;
  }

  /** Begins a message; answers where, for its end. */
  function begin(kind: number): number {
    reserve(5);
    bytes[at] = kind;
    at += 5;
    return at - 4;
  }

  /** Writes the length of the message, which does not count its code. */
  const end = (begun: number): void => int32(at - begun, begun);

  /** Binary for bytes, text for everything else; then all columns as text. */
  function parameters(values: readonly Parameter[]): void {
    reserve(6 + 2 * values.length);
    int16(values.length);
    for (const value of values) int16(typeof value === "object" && value !== null ? 1 : 0);
    int16(values.length);
    for (const value of values) parameter(value);
    reserve(2);
    int16(0);
  }

  return {
    get length() {
      return at;
    },
    parse(name, sql) {
      const begun = begin(code.parse);
      text(name);
      text(sql);
      reserve(2);
      int16(0); // the server finds out the types of the parameters
      end(begun);
    },
    bind(name, values) {
      const begun = begin(code.bind);
      text("");
      text(name);
      parameters(values);
      end(begun);
    },
    describe() {
      const begun = begin(code.describe);
      reserve(1);
      bytes[at++] = aPortal;
      text("");
      end(begun);
    },
    execute() {
      const begun = begin(code.execute);
      text("");
      reserve(4);
      int32(0, at); // all rows
      at += 4;
      end(begun);
    },
    close(name) {
      const begun = begin(code.close);
      reserve(1);
      bytes[at++] = aStatement;
      text(name);
      end(begun);
    },
    sync: () => end(begin(code.sync)),
    cut: (length) => void (at = length),
    take() {
      const said = Buffer.from(bytes.subarray(0, at));
      at = 0;
      if (bytes.length > usualBytes) bytes = Buffer.allocUnsafe(usualBytes);
      return said;
    },
  };
}

// Who is attached, and since when nobody is.
import type { Socket } from "node:net";
import { greet, type Greeting } from "./control.ts";

export interface Audience {
  join(socket: Socket): void;
  /** Tells everybody attached, and everybody who comes later. */
  announce(greeting: Greeting): void;
  /** From now on, whoever comes is cut. */
  close(): void;
  /** Fulfilled, once and for good, when nobody has been attached for the idle time; the audience is closed then. */
  readonly deserted: Promise<void>;
}

export function makeAudience(idleMs: number): Audience {
  const attached = new Set<Socket>();
  let greeting: Greeting = { kind: "starting" };
  let isClosed = false;
  let desert = (): void => {};
  const deserted = new Promise<void>((resolve) => (desert = resolve));
  const close = (): void => void (isClosed = true);
  const leave = (): void => {
    close();
    desert();
  };
  let idle = setTimeout(leave, idleMs);

  function join(socket: Socket): void {
    if (isClosed) return void socket.destroy();
    clearTimeout(idle);
    attached.add(socket);
    socket.once("close", () => part(socket));
    greet(socket, greeting);
  }

  function part(socket: Socket): void {
    attached.delete(socket);
    // A start that failed is told once; the next attempt deserves a fresh supervisor.
    if (attached.size === 0) idle = setTimeout(leave, greeting.kind === "failed" ? 0 : idleMs);
  }

  function announce(next: Greeting): void {
    greeting = next;
    for (const socket of attached) greet(socket, next);
  }

  return { join, announce, close, deserted };
}

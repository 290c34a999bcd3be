// Keys that work wherever one is, except where one types.
import { useEffect, useRef } from "react";

type Handlers = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const sequenceMs = 1200;

/** Handlers by key; two keys with a space between are pressed one after the other: `g h`. */
export function useKeys(handlers: Handlers): void {
  const current = useRef(handlers);
  current.current = handlers;
  useEffect(() => {
    let prefix = "";
    let until = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || typing(event.target)) return;
      const command = event.ctrlKey || event.metaKey ? "mod+" : "";
      if (command === "" && document.querySelector("dialog[open]")) return;
      const key = command + event.key;
      const sequence = performance.now() < until ? `${prefix} ${key}` : key;
      const handler = current.current[sequence] ?? current.current[key];
      [prefix, until] = [key, performance.now() + sequenceMs];
      if (!handler) return;
      until = 0;
      event.preventDefault();
      handler(event);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

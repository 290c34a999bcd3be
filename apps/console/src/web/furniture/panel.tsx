// Details beside the list that they belong to. Escape closes it and gives the focus back.
import { useEffect, useRef, type ReactNode } from "react";
import { Icon } from "./icon.tsx";

export interface PanelProps {
  readonly title: ReactNode;
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Panel({ title, label, onClose, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]"))
        onClose();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onClose]);
  return (
    <aside className="panel" aria-label={label} ref={panel} tabIndex={-1}>
      <header>
        <div>{title}</div>
        <button type="button" className="button" data-kind="quiet" onClick={onClose} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <div tabIndex={0} role="group" aria-label={`${label}, details`}>
        {children}
      </div>
    </aside>
  );
}

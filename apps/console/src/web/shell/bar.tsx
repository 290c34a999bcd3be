import { Icon } from "../furniture/icon.tsx";
import { Brand } from "./navigation.tsx";

export interface BarProps {
  readonly open: boolean;
  readonly onMenu: () => void;
  readonly onGoTo: () => void;
}

/** The top of a phone's screen, where the navigation has no room; it slides in over the page. */
export function Bar({ open, onMenu, onGoTo }: BarProps) {
  return (
    <>
      <section className="bar" aria-label="Menu bar">
        <Brand />
        <button type="button" className="button" data-kind="quiet" onClick={onGoTo} aria-label="Go to">
          <Icon name="search" />
        </button>
        <button
          type="button"
          className="button"
          data-kind="quiet"
          aria-controls="side"
          aria-expanded={open}
          onClick={onMenu}
          aria-label="Pages"
        >
          <Icon name="menu" />
        </button>
      </section>
      {open && <button type="button" className="veil" aria-label="Close the menu" onClick={onMenu} />}
    </>
  );
}

import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { useQueryClient } from "@tanstack/react-query";
import { signOut } from "../api/client.ts";
import { useRead } from "../api/hooks.ts";
import { useSession } from "../api/session.ts";
import { Icon } from "../furniture/icon.tsx";
import { navigation, type NavigationEntry } from "../pages/index.ts";
import { applyTheme, readTheme, themeAfter } from "./theme.ts";

export function Brand() {
  return (
    <Link href="/" className="brand">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <rect width="24" height="24" rx="6" fill="var(--accent)" />
        <path
          d="M6.5 12.5l3.6 3.6 7.4-8.2"
          fill="none"
          stroke="var(--on-accent)"
          strokeWidth="2.4"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      Tuntas
    </Link>
  );
}

const isAt = (path: string, location: string): boolean =>
  path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`);

function Entry({ entry, urgent }: { readonly entry: NavigationEntry; readonly urgent: number }) {
  const [location] = useLocation();
  const { path, title, icon, key } = entry;
  return (
    <Link href={path} aria-current={isAt(path, location) ? "page" : undefined} title={`g ${key}`}>
      <Icon name={icon} />
      {title}
      {path === "/" && urgent > 0 && (
        <span className="tally number">
          {urgent}
          <span className="hidden-text"> urgent</span>
        </span>
      )}
    </Link>
  );
}

const groups = [...new Set(navigation.map((entry) => entry.group))];

function Who() {
  const session = useSession().data;
  const client = useQueryClient();
  if (!session) return <span className="who" />;
  const { name, role, signedIn } = session;
  return (
    <>
      <span className="who" title={`${name}, ${role}`}>
        {name} · {role}
      </span>
      {signedIn && (
        <button
          type="button"
          className="button"
          data-kind="quiet"
          data-size="small"
          onClick={() => void signOut().finally(() => client.resetQueries())}
        >
          Sign out
        </button>
      )}
    </>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => applyTheme(theme), [theme]);
  return (
    <button
      type="button"
      className="button"
      data-kind="quiet"
      data-size="small"
      onClick={() => setTheme(themeAfter)}
      title={`Theme: ${theme}`}
      aria-label={`Theme: ${theme}. Change it`}
    >
      <Icon name="sun" />
    </button>
  );
}

export interface SideProps {
  readonly open: boolean;
  readonly onHelp: () => void;
}

export function Side({ open, onHelp }: SideProps) {
  const home = useRead("home", {}, { everyMs: 5000, aside: true });
  const urgent = home.data?.value.decisions.filter((each) => each.urgency === "now").length ?? 0;
  return (
    <header className="side" data-open={open} id="side">
      <Brand />
      <nav aria-label="Pages">
        {groups.map((group) => (
          <div key={group}>
            {group && <h2>{group}</h2>}
            {navigation
              .filter((entry) => entry.group === group)
              .map((entry) => (
                <Entry key={entry.path} entry={entry} urgent={urgent} />
              ))}
          </div>
        ))}
      </nav>
      <div className="side-end">
        <Who />
        <ThemeButton />
        <button
          type="button"
          className="button"
          data-kind="quiet"
          data-size="small"
          onClick={onHelp}
          aria-label="Keys and help"
          title="?"
        >
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}

// Everything by its name: pages, queues, schedules, streams, batches, backfills, services, a message by its id.
import { useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import { useRead } from "../api/hooks.ts";
import { Dialog } from "../furniture/dialog.tsx";
import { navigation } from "../pages/index.ts";

interface Choice {
  readonly text: string;
  readonly where: string;
  readonly href: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function useChoices(search: string): readonly Choice[] {
  const queues = useRead("queues", { search: search.trim() }, { everyMs: false });
  const schedules = useRead("schedules", {}, { everyMs: false });
  const streams = useRead("streams", {}, { everyMs: false });
  const batches = useRead("batches", {}, { everyMs: false });
  const backfills = useRead("backfills", {}, { everyMs: false });
  const services = useRead("services", {}, { everyMs: false });
  const needle = search.trim().toLowerCase();
  const byPage = navigation
    .filter(({ title }) => title.toLowerCase().includes(needle))
    .map(({ title, path, group }) => ({ text: title, where: group || "Page", href: path }));
  const named = (all: readonly { readonly name: string }[] | undefined, where: string, path: string) =>
    (all ?? [])
      .filter(({ name }) => name.toLowerCase().includes(needle))
      .slice(0, 20)
      .map(({ name }) => ({ text: name, where, href: path + encodeURIComponent(name) }));
  const byId = uuid.test(needle)
    ? [{ text: needle, where: "Message", href: `/queues?message=${needle}` }]
    : [];
  return [
    ...byId,
    ...byPage,
    ...named(queues.data?.value.items, "Queue", "/queues/"),
    ...named(schedules.data?.value, "Schedule", "/schedules/"),
    ...named(streams.data?.value, "Stream", "/streams/"),
    ...named(batches.data?.value, "Batch", "/batches?batch="),
    ...named(backfills.data?.value, "Backfill", "/backfills?view=runs&backfill="),
    ...named(services.data?.value, "Service", "/services/"),
  ];
}

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const [, go] = useLocation();
  const choices = useChoices(search);
  const current = Math.min(at, choices.length - 1);
  const take = (choice: Choice | undefined): void => {
    if (!choice) return;
    onClose();
    go(choice.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(choices.length - 1, current + step)));
    else if (event.key === "Enter") take(choices[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Go to" className="palette" onClose={onClose}>
      <input
        className="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={choices[current] && `choice-${current}`}
        aria-label="Go to a page, to anything by its name, or to a message by its id"
        placeholder="Go to a page, to anything by its name, or to a message by its id"
        value={search}
        autoFocus
        onChange={(event) => {
          setSearch(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="choices" role="listbox" aria-label="Places">
        {choices.map((choice, index) => (
          <li
            key={choice.where + choice.href}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => take(choice)}
            onKeyDown={onKeyDown}
          >
            {choice.text}
            <span className="where">{choice.where}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

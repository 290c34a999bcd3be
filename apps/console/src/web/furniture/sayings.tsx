// What people say to a thing that is under way: a button for what can be said now, and a dialog that tells first what it does.
import { useState, type ReactNode } from "react";
import { Confirm } from "./confirm.tsx";

export interface Saying<T> {
  readonly button: string;
  readonly verb: string;
  /** What it does, and what it does not. */
  readonly text: (view: T) => ReactNode;
  readonly told: string;
  /** It moves the thing on. */
  readonly primary?: boolean;
  /** It cannot be taken back: the name is typed first. */
  readonly final?: boolean;
}

export interface SayProps<T> {
  readonly saying: Saying<T>;
  readonly view: T;
  /** To what it is said: `job 7 of statements`. */
  readonly to: string;
  readonly name: string;
  readonly say: (reason: string) => Promise<unknown>;
  readonly onClose: () => void;
  /** What else is asked. */
  readonly children?: ReactNode;
}

export function Say<T>({ saying, view, to, name, say, onClose, children }: SayProps<T>) {
  const { button, verb, text, told, final = false } = saying;
  return (
    <Confirm
      title={`${button}: ${to}`}
      verb={verb}
      onClose={onClose}
      {...(final && { danger: true, typeName: name })}
      run={async (reason) => {
        await say(reason);
        return told;
      }}
    >
      <p>{text(view)}</p>
      {children}
    </Confirm>
  );
}

interface SayingsProps<V extends string> {
  readonly sayings: Readonly<Record<V, Pick<Saying<never>, "button" | "primary">>>;
  /** What can be said now. */
  readonly verbs: readonly V[];
  readonly may: (verb: V) => boolean;
  readonly dialog: (verb: V, onClose: () => void) => ReactNode;
}

export function Sayings<V extends string>({ sayings, verbs, may, dialog }: SayingsProps<V>) {
  const [asked, setAsked] = useState<V>();
  return (
    <>
      {(Object.keys(sayings) as V[])
        .filter((verb) => verbs.includes(verb))
        .map((verb) => (
          <button
            key={verb}
            type="button"
            className="button"
            data-kind={sayings[verb].primary ? "primary" : undefined}
            disabled={!may(verb)}
            onClick={() => setAsked(verb)}
          >
            {sayings[verb].button}
          </button>
        ))}
      {asked && dialog(asked, () => setAsked(undefined))}
    </>
  );
}

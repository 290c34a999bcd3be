import { useUrl } from "./url.ts";

export interface TabsProps {
  /** In the address; the first tab is without it. */
  readonly name: string;
  readonly label: string;
  readonly tabs: readonly (readonly [value: string, text: string])[];
}

/** The tab that is open; the first where the address names none. */
export function useTab<T extends string>(name: string, values: readonly [T, ...T[]]): T {
  const given = useUrl().get(name);
  return values.find((value) => value === given) ?? values[0];
}

export function Tabs({ name, label, tabs }: TabsProps) {
  const url = useUrl();
  const first = tabs[0]![0];
  const current = url.get(name) ?? first;
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([value, text]) => (
        <a
          key={value}
          href={value === first ? "?" : `?${name}=${value}`}
          aria-current={value === current}
          onClick={(event) => {
            event.preventDefault();
            url.set({ [name]: value === first ? undefined : value });
          }}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}

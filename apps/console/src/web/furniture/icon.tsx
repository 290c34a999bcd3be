// Line drawings on a 16 × 16 grid.
const paths = {
  home: "M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5",
  queue: "M2.5 4h11M2.5 8h11M2.5 12h7",
  dead: "M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.3v.2",
  outbox: "M2.5 9v3.5h11V9M8 10V3M5.2 5.8 8 3l2.8 2.8",
  effect: "M9 2 4 9h4l-1 5 5-7H8l1-5Z",
  reserve: "M4 2.5h8v11L8 10.5l-4 3v-11Z",
  audit: "M4 2.5h6l2.5 2.5v8.5H4v-11ZM6 7h4.5M6 10h4.5",
  approval: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.3 8.2l2 2 3.5-4",
  operation: "M3 4.5h6M12 4.5h1M3 11.5h1M7 11.5h6M10.5 3v3M5.5 10v3",
  alarm: "M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3L4 11ZM6.8 14.2h2.4",
  workflow: "M2.5 3h4v3.5h-4zM9.5 9.5h4V13h-4zM4.5 6.5v4.7h5",
  play: "M5 3.2v9.6L13 8 5 3.2Z",
  process: "M3 3h10v10H3zM6 6h4v4H6zM6 1.5V3M10 1.5V3M6 13v1.5M10 13v1.5M1.5 6H3M1.5 10H3M13 6h1.5M13 10h1.5",
  service: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.2M5 11h.2M8 5h3M8 11h3",
  schedule: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5",
  stream: "M2 5c2-2 4-2 6 0s4 2 6 0M2 8.5c2-2 4-2 6 0s4 2 6 0M2 12c2-2 4-2 6 0s4 2 6 0",
  batch: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z",
  backfill: "M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.7h5M10 9.2l1.4 1.4 2.6-3",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.7 10.7 14 14",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  sun: "M8 10.8A2.8 2.8 0 1 0 8 5.2a2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.2 6.4a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.2M8 11.3v.2",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  arrow: "M3 8h10M9 4l4 4-4 4",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

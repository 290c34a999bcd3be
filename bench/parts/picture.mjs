// A line chart as SVG text: some series over one logarithmic axis, readable in light and dark.
const [width, height, left, bottom, top, right] = [640, 300, 70, 46, 40, 90];
const colours = ["#0a6", "#c60", "#46c"];
const short = (n) =>
  n >= 1e6 ? `${+(n / 1e6).toFixed(1)}M` : n >= 1000 ? `${+(n / 1000).toFixed(1)}k` : String(+n.toFixed(1));
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const text = ({ x, y, anchor, fill }, content) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${fill ? ` fill="${fill}"` : ""}>${escape(content)}</text>`;

function drawSeries({ name, places, values }, colour) {
  const line = places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const marks = places.flatMap(([x, y], i) => [
    `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4" fill="${colour}"/>`,
    text({ x, y: y - 10, anchor: "middle", fill: colour }, short(values[i])),
  ]);
  const [x, y] = places.at(-1);
  return [
    `<polyline points="${line}" stroke="${colour}"/>`,
    ...marks,
    text({ x: x + 10, y: y + 4, anchor: "start", fill: colour }, name),
  ];
}

/** `xs` rise and are above 0; each series has a name and a value for each of them. */
export function drawLines({ title, xLabel, yLabel, xs, series }) {
  const logs = xs.map(Math.log10);
  const span = logs.at(-1) - logs[0] || 1;
  const yMax = Math.max(...series.flatMap(({ values }) => values)) * 1.15 || 1;
  const xOf = (log) => left + ((log - logs[0]) / span) * (width - left - right);
  const yOf = (value) => height - bottom - (value / yMax) * (height - bottom - top);
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => {
    const y = yOf(yMax * part);
    return [
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}"/>`,
      text({ x: left - 8, y: y + 4, anchor: "end" }, short(yMax * part)),
    ];
  });
  const ticks = xs.map((x, i) =>
    text({ x: xOf(logs[i]), y: height - bottom + 18, anchor: "middle" }, short(x)),
  );
  const lines = series.flatMap(({ name, values }, i) =>
    drawSeries({ name, values, places: values.map((value, at) => [xOf(logs[at]), yOf(value)]) }, colours[i]),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>svg{background:#fff;font:12px sans-serif}text:not([fill]){fill:#333}.grid{stroke:#ddd}polyline{fill:none;stroke-width:2}
@media(prefers-color-scheme:dark){svg{background:#111}text:not([fill]){fill:#ccc}.grid{stroke:#333}}</style>
<text x="${left}" y="20" font-weight="bold">${escape(title)}</text>
${[...grid, ...ticks, ...lines].join("\n")}
${text({ x: (left + width - right) / 2, y: height - 8, anchor: "middle" }, xLabel)}
${text({ x: left, y: top - 6, anchor: "start" }, yLabel)}
</svg>
`;
}

// A line chart as SVG text: one series, a logarithmic axis below, readable in light and dark.
const [width, height, left, bottom, top, right] = [640, 300, 70, 46, 40, 20];
const short = (n) =>
  n >= 1e6 ? `${+(n / 1e6).toFixed(1)}M` : n >= 1000 ? `${+(n / 1000).toFixed(1)}k` : String(+n.toFixed(1));
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** `points` as [x, y], x rising and above 0. */
export function drawLine({ title, xLabel, yLabel, points }) {
  const xs = points.map(([x]) => Math.log10(x));
  const yMax = Math.max(...points.map(([, y]) => y)) * 1.1 || 1;
  const span = xs.at(-1) - xs[0] || 1;
  const at = ([x, y]) => [
    left + ((Math.log10(x) - xs[0]) / span) * (width - left - right),
    height - bottom - (y / yMax) * (height - bottom - top),
  ];
  const text = (x, y, anchor, content) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escape(content)}</text>`;
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => {
    const y = height - bottom - part * (height - bottom - top);
    return [
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}"/>`,
      text(left - 8, y + 4, "end", short(yMax * part)),
    ];
  });
  const places = points.map(at);
  const marks = places.map(([x, y], i) => [
    `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4"/>`,
    text(x, y - 10, "middle", short(points[i][1])),
    text(x, height - bottom + 18, "middle", short(points[i][0])),
  ]);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>svg{background:#fff;font:12px sans-serif}text{fill:#333}.grid{stroke:#ddd}polyline{fill:none;stroke:#0a6;stroke-width:2}circle{fill:#0a6}
@media(prefers-color-scheme:dark){svg{background:#111}text{fill:#ccc}.grid{stroke:#333}}</style>
<text x="${left}" y="20" font-weight="bold">${escape(title)}</text>
${grid.join("\n")}
<polyline points="${places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}"/>
${marks.flat().join("\n")}
${text((left + width - right) / 2, height - 8, "middle", xLabel)}
${text(left, top - 6, "start", yLabel)}
</svg>
`;
}

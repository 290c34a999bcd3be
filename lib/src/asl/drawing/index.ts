// Drawings of machines: where boxes and arrows stand, and the picture as SVG.
export * from "./layout.ts";
export { toSvg } from "./svg.ts";

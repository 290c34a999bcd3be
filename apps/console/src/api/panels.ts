// What a service, its workers and its releases are like now, each as a fixed set of figures; and the ten conditions of health.
import type { Health } from "tuntas/readiness";
import type { None } from "./basics.ts";

export type { Condition } from "tuntas/readiness";

export interface PanelFigure {
  readonly name: string;
  /** Null where nothing was measured. */
  readonly value: string | null;
  readonly note: string;
  /** Null where there is no bound. */
  readonly fine: boolean | null;
}

export interface PanelsView {
  readonly api: readonly PanelFigure[];
  readonly workers: readonly PanelFigure[];
  readonly release: readonly PanelFigure[];
}

export interface PanelReads {
  health: { query: None; answer: Health };
  panels: { query: None; answer: PanelsView };
}

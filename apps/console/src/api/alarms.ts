import type { AlarmChange, AlarmReport, RunbookReport } from "tuntas/alarm";
import type { None, Reasoned } from "./basics.ts";

export type { AlarmChange, AlarmReport, RunbookReport };

interface AlarmName {
  readonly name: string;
  /** What it watches there; empty where it has seen nothing yet. */
  readonly subject?: string;
}

export interface AlarmReads {
  alarms: { query: None; answer: readonly AlarmReport[] };
  "alarm.runbook": { query: AlarmName; answer: RunbookReport };
  "alarm.history": { query: AlarmName; answer: readonly AlarmChange[] };
}

export interface AlarmActs {
  "alarm.test": { body: AlarmName & Reasoned; answer: { readonly receivers: number } };
}

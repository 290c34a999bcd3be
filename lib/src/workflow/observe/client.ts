// What programs that watch ask of workflows: cheap, and bounded however much there is.
import type { ExecutionState } from "../../asl/contract.ts";
import type { Sql } from "../../pg/contract.ts";
import type { ExecutionRecord, Scope } from "../contract.ts";
import {
  listCalls,
  listDue,
  searchExecutions,
  surveyMachines,
  type ExecutionSearch,
  type ExecutionSummary,
  type MachinePage,
  type MachineSurvey,
} from "../store/survey.ts";
import type { Position } from "./contract.ts";
import { positionsOf } from "./state.ts";

export interface WorkflowObserver {
  /** Machines with their latest executions by status, in the order of their names. */
  machines(scope: Scope, page: MachinePage): Promise<MachineSurvey[]>;
  /** Executions, the latest first. */
  executions(scope: Scope, search: ExecutionSearch): Promise<ExecutionSummary[]>;
  /** Where an execution stands, and why it goes no further; empty once it succeeded. */
  positions(execution: Pick<ExecutionRecord, "id">): Promise<Position[]>;
}

export interface ObserverParts {
  readonly database: Sql;
  readonly stateOf: (executionId: string) => Promise<ExecutionState | undefined>;
}

export const makeWorkflowObserver = ({ database, stateOf }: ObserverParts): WorkflowObserver => ({
  machines: (scope, page) => surveyMachines(database, scope, page),
  executions: (scope, search) => searchExecutions(database, scope, search),
  async positions({ id }) {
    const state = await stateOf(id);
    if (!state || state.status === "SUCCEEDED") return [];
    const [due, calls] = await Promise.all([listDue(database, id), listCalls(database, id)]);
    return positionsOf(state, { due, calls });
  },
});

export type { ExecutionSearch, ExecutionSummary, MachinePage, MachineSurvey };

import type { Operation } from "tuntas/operation";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

const rowsMax = 50;

const decisionOf = (operation: Operation, nowMs: number): Decision => {
  const { id, kind, state, selected, actor, reason, failure, askedAtMs } = operation;
  const waits = state === "awaiting_approval";
  return {
    id: `operation:${id}`,
    kind: "operation",
    urgency: waits ? "soon" : "now",
    title: waits
      ? `${actor} asks to ${kind} ${counted(selected, "thing")}`
      : `The operation ${kind} cannot go on`,
    detail: waits ? reason : (failure ?? reason),
    owner: actor,
    runbook: null,
    ageMs: Math.max(0, nowMs - askedAtMs),
    action: {
      label: waits ? "Approve or decline" : "Resume or abort",
      href: pageAt("/operations", { operation: id }),
    },
  };
};

export const operations: Look = {
  name: "operations that wait for a second person or cannot go on",
  async find({ platform }) {
    const { list } = platform.operations;
    const found = await Promise.all(
      (["awaiting_approval", "failed"] as const).map((state) => list({ state, limit: rowsMax })),
    );
    const nowMs = platform.workflows.nowMs();
    // Runs of commands are a question of their own.
    return found
      .flat()
      .filter(({ kind }) => !kind.startsWith("command "))
      .map((operation) => decisionOf(operation, nowMs));
  },
};

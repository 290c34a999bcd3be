import type { RunReport, RunState } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

const tones: Readonly<Record<RunState, Tone>> = {
  planning: "active",
  planned: "idle",
  sampling: "active",
  sampled: "warn",
  approved: "idle",
  running: "active",
  paused: "warn",
  verifying: "active",
  completed: "good",
  aborted: "idle",
  rolling_back: "active",
  rolled_back: "idle",
};

const words: Readonly<Partial<Record<RunState, string>>> = {
  rolling_back: "rolling back",
  rolled_back: "rolled back",
};

/** Trouble is told apart from what a person or a window has said. */
export function standingOf({ state, pause, failure }: RunReport): readonly [Tone, string] {
  if (pause === "trouble") return ["danger", "stopped"];
  if (pause === "window") return ["idle", "outside window"];
  if (state === "aborted" && failure !== null) return ["danger", state];
  return [tones[state], words[state] ?? state];
}

export function RunBadge({ run }: { readonly run: RunReport }) {
  const [tone, word] = standingOf(run);
  return <Badge tone={tone}>{word}</Badge>;
}

/** For whom or what it waits; undefined where it goes on by itself, or is over. */
export function waitsFor({ state, pause, actor }: RunReport): string | undefined {
  if (state === "planned") return "a dry run";
  if (state === "sampled") return `an approval, not by ${actor}`;
  if (state === "approved") return "its start";
  if (pause === "person") return "somebody to resume it";
  if (pause === "trouble") return "its cause to be mended";
  return pause === "window" ? "its window" : undefined;
}

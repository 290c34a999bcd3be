// The ten questions that an operator asks of a worker first.
import type { WorkerAnswer } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

const toneOf = ({ fine }: WorkerAnswer): Tone => (fine === null ? "idle" : fine ? "good" : "danger");

const Tile = ({ answer }: { readonly answer: WorkerAnswer }) => (
  <li data-fine={String(answer.fine)}>
    <Badge tone={toneOf(answer)}>{answer.question}</Badge>
    <span>{answer.text}</span>
  </li>
);

export function Answers({ queue }: { readonly queue: string }) {
  const answers = useRead("queue.answers", { queue }, { everyMs: 10_000 }).data?.value;
  return (
    <ul className="answers" aria-label="Ten questions">
      {answers?.map((answer) => (
        <Tile key={answer.question} answer={answer} />
      ))}
    </ul>
  );
}

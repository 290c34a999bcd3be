// How something stands, or why it does not go on: a card of short points, each a word with its colour and what it means.
import type { ReactNode } from "react";
import { Badge, type Tone } from "./badge.tsx";

export type Point = readonly [tone: Tone, word: string, text: ReactNode];

interface PointsProps {
  readonly title: string;
  readonly points: readonly Point[];
}

export const Points = ({ title, points }: PointsProps) => (
  <section className="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
    </header>
    <ul className="inside checklist">
      {points.map(([tone, word, text], index) => (
        <li key={index}>
          <Badge tone={tone}>{word}</Badge>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  </section>
);

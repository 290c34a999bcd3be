import { expect, it } from "vitest";
import { makePace } from "./pace.ts";

function paceAt(concurrency: number, capped = false) {
  const clock = { ms: 0 };
  return {
    clock,
    pace: makePace({ places: () => concurrency, isEased: () => false }, capped, () => clock.ms),
  };
}

function end(pace: ReturnType<typeof makePace>, count: number): void {
  for (let i = 0; i < count; i++) pace.ended();
}

it("holds enough for 100 ms at the present pace", () => {
  const { clock, pace } = paceAt(16);
  end(pace, 40);
  clock.ms = 10;
  expect(pace.target()).toBe(16 + 400);
});

it("gives two claims that are asked for together one pace", () => {
  const { clock, pace } = paceAt(16);
  end(pace, 500);
  clock.ms = 5;
  expect(pace.target()).toBe(16 + 1000);
  expect(pace.target()).toBe(16 + 1000);
  end(pace, 500);
  clock.ms = 10;
  expect(pace.target()).toBe(16 + 1000);
});

it("halves what it holds ahead where nothing ends, down to one for each handler", () => {
  const { clock, pace } = paceAt(16);
  end(pace, 80);
  clock.ms = 100;
  expect(pace.target()).toBe(16 + 80);
  clock.ms = 200;
  expect(pace.target()).toBe(16 + 40);
  for (const at of [300, 400, 500]) void ((clock.ms = at), pace.target());
  expect(pace.target()).toBe(32);
});

it("holds nothing ahead of slow work where the whole queue has a cap", () => {
  const { clock, pace } = paceAt(4, true);
  end(pace, 3);
  clock.ms = 100;
  expect(pace.target()).toBe(4);
  end(pace, 80);
  clock.ms = 200;
  expect(pace.target()).toBe(4 + 80);
  for (const at of [300, 400, 500, 600, 700]) void ((clock.ms = at), pace.target());
  expect(pace.target()).toBe(4);
});

import { expect, test } from "vitest";
import { furthest, makeLooks } from "./looks.ts";
import { fromTheStart } from "../store/claim/index.ts";

const at = (id: string, turn = "0") => ({ id, turn }) as never;

test("looks from the left end as long as that costs no more than from the mark", () => {
  let now = 0;
  const looks = makeLooks(() => now);
  for (let n = 0; n < 200; n++) {
    now += 10;
    const left = looks.beginsAtTheStart();
    looks.took(left, 1);
    looks.gotAll(false);
    // Every twentieth is compared, and may then look left as well.
    expect(left || looks.isAllowed()).toBe(true);
  }
});

test("spends a tenth of the time on looks that walk dead entries", () => {
  let now = 0;
  let spent = 0;
  const looks = makeLooks(() => now);
  const look = (left: boolean) => {
    const ms = left ? 600 : 1;
    now += ms;
    if (left) spent += ms;
    looks.took(left, ms);
  };
  while (now < 200_000) {
    const left = looks.beginsAtTheStart();
    look(left);
    if (!left && looks.isAllowed()) look(true);
    looks.gotAll(false);
    now += 5;
  }
  expect(spent).toBeLessThan(35_000);
  expect(spent).toBeGreaterThan(10_000);
});

test("is not put off for long by a look during which its process was frozen", () => {
  let now = 0;
  const looks = makeLooks(() => now);
  looks.took(false, 1);
  now = 60_000;
  looks.took(true, 60_000);
  expect(looks.isAllowed()).toBe(false);
  now += 5000;
  expect(looks.isAllowed()).toBe(true);
});

test("looks left now and then while all that is asked for is there", () => {
  let now = 0;
  const looks = makeLooks(() => now);
  let lefts = 0;
  for (; now < 10_000; now += 5) {
    const left = looks.beginsAtTheStart();
    looks.took(left, 1);
    looks.gotAll(true);
    if (left) lefts++;
  }
  expect(lefts).toBeGreaterThan(20);
  expect(lefts).toBeLessThan(60);
});

test("the mark moves to the right only, and leaves room for ids that commit late", () => {
  expect(furthest(fromTheStart, [at("5")])).toEqual({ turn: "0", id: "0" });
  const mark = furthest(fromTheStart, [at("900"), at("1000")]);
  expect(mark).toEqual({ turn: "0", id: "800" });
  expect(furthest(mark, [at("900")])).toBe(mark);
  expect(furthest(mark, [])).toBe(mark);
  expect(furthest(mark, [at("1", "3")])).toEqual({ turn: "3", id: "0" });
});

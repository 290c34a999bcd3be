import { expect, test } from "vitest";
import { isSource } from "./watch.ts";

test("`tuntas dev` starts again for code and for documents of workflows, and for nothing else", () => {
  const sources = ["app.mjs", "orders.ts", "view.tsx", "refund.asl.json", "refund.asl.yaml", "rates.json"];
  const others = [
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "tsconfig.build.json",
    ".package-lock.json",
  ];
  const neither = ["orders.test.ts", "README.md", "app.mjs~", "award.csv", "rates-are-down"];
  expect(sources.filter(isSource)).toEqual(sources);
  expect([...others, ...neither].filter(isSource)).toEqual([]);
});

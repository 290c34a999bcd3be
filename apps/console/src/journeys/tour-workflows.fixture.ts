// The pages of the shop's workflows, and what one sees there.
import type { Page } from "playwright-core";
import type { Place } from "./tour.fixture.ts";

const runAt = (name: string, search = ""): string =>
  `/workflows/run/${encodeURIComponent(`arn:aws:states:us-east-1:000000000000:execution:OrderFulfilment:fulfil-${name}`)}${search}`;

const drawn = (page: Page): Promise<void> =>
  page.locator(".state-box").filter({ hasText: "BookCourier" }).first().waitFor();

const pressState = async (page: Page, state: string): Promise<void> => {
  await drawn(page);
  await page.locator(".state-box").getByRole("button", { name: state }).click();
  await page.getByRole("heading", { name: state }).waitFor();
};

export const workflowPages: readonly Place[] = [
  { name: "workflows", address: "/workflows", shows: "fulfil-ord-2035" },
  { name: "workflows failed", address: "/workflows?status=FAILED", shows: "fulfil-ord-2033" },
  { name: "machine", address: "/workflows/OrderFulfilment", shows: "OrderFulfilment", act: drawn },
  {
    name: "machine versions",
    address: "/workflows/OrderFulfilment?view=versions",
    shows: "No version is published",
  },
  { name: "run waiting", address: runAt("ord-2034"), shows: "Why is this not moving?", act: drawn },
  {
    name: "run retried",
    address: runAt("ord-2031"),
    shows: "fulfil-ord-2031",
    act: (page) => pressState(page, "BookCourier"),
  },
  { name: "run cancelled", address: runAt("ord-2032"), shows: "OrderCancelled", act: drawn },
  {
    name: "run waterfall",
    address: runAt("ord-2031", "?view=waterfall"),
    shows: "waited to be tried again",
  },
  { name: "run events", address: runAt("ord-2031", "?view=events"), shows: "Execution Started" },
  { name: "run evidence", address: runAt("ord-2034", "?view=evidence"), shows: "Questions to people" },
  {
    name: "redrive",
    address: runAt("ord-2033"),
    shows: "CourierBroken",
    async act(page) {
      await drawn(page);
      await page.getByRole("button", { name: "Redrive" }).click();
      await page.getByRole("dialog").getByText("with your name").waitFor();
    },
  },
];

// Try it: send a message, start an execution, call the API, and see what comes of it.
import { lazy, Suspense } from "react";
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import "./try.css";

const tabs = [
  ["message", "Send a message"],
  ["execution", "Start an execution"],
  ["api", "Call the API"],
] as const;

const views = {
  message: lazy(() => import("./message.tsx")),
  execution: lazy(() => import("./execution.tsx")),
  api: lazy(() => import("./api.tsx")),
};

export default function Try() {
  const View = views[useTab("what", ["message", "execution", "api"])];
  return (
    <Page
      title="Try it"
      lead="Do by hand what a program does, and watch what comes of it. Each try is on the record."
    >
      <Tabs name="what" label="What to try" tabs={tabs} />
      <Suspense fallback={null}>
        <View />
      </Suspense>
    </Page>
  );
}

// Try it: send a message, start an execution, call the API, and see what comes of it.
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import TryApi from "./api.tsx";
import TryExecution from "./execution.tsx";
import TryMessage from "./message.tsx";
import "./try.css";

const tabs = [
  ["message", "Send a message"],
  ["execution", "Start an execution"],
  ["api", "Call the API"],
] as const;

// With their page: as files of their own they would split React off the first script.
const views = { message: TryMessage, execution: TryExecution, api: TryApi };

export default function Try() {
  const View = views[useTab("what", ["message", "execution", "api"])];
  return (
    <Page
      title="Try it"
      lead="Do by hand what a program does, and watch what comes of it. Each try is on the record."
    >
      <Tabs name="what" label="What to try" tabs={tabs} />
      <View />
    </Page>
  );
}

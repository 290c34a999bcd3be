// Business state with an expiry, and jobs that one owner at a time works on.
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { Leases } from "./leases.tsx";
import { Reservations } from "./reservations.tsx";

export default function ReservationsAndLeases() {
  const view = useTab("view", ["reservations", "leases"]);
  return (
    <Page
      title="Reservations and leases"
      lead="What is held, by whom, and until when. Each ends by itself; giving one back early is on the record."
    >
      <Tabs
        name="view"
        label="What to see"
        tabs={[
          ["reservations", "Reservations"],
          ["leases", "Leases"],
        ]}
      />
      {view === "reservations" ? <Reservations /> : <Leases />}
    </Page>
  );
}

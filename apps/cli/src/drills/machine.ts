// A machine of its own for a drill upon a service, and what its service's log says of the outcome.
import { join } from "node:path";
import { runServices, stopText, type Deployment, type ServiceDefinition } from "tuntas/service";
import { seen, type Stage } from "./drill.ts";

const by = { actor: "drill" };

/** A machine of its own for the time of a drill; nothing of it runs on afterwards. */
export async function onMachine(
  stage: Stage,
  name: string,
  work: (begin: Begin) => Promise<void>,
): Promise<void> {
  const { platform, folder } = stage;
  const host = `drill-${name}`;
  const controller = runServices(platform, { host, outputs: join(folder, "services"), scaleEveryMs: 200 });
  try {
    await work(async (definition) => {
      const { deployment } = await platform.services.deploy(definition, { ...by, host });
      return { settled: () => platform.services.settled(deployment.id) };
    });
    await tellAll(stage, name);
  } finally {
    await end(platform, name).finally(controller.close);
  }
}

async function end({ services }: Stage["platform"], name: string): Promise<void> {
  if (!(await services.list()).some((each) => each.name === name)) return; // it was refused
  await services.stop(name, by);
  await seen(
    () => services.describe(name),
    ({ instances }) => instances.every(({ state }) => state === "stopped"),
  );
}

/** Begins a deployment there. */
type Begin = (definition: ServiceDefinition) => Promise<{ settled(): Promise<Deployment> }>;

/** What explains the outcome: the service's events, and why its instances stopped. */
async function tellAll({ platform, note }: Stage, name: string): Promise<void> {
  const { instances } = await platform.services.describe(name);
  note(
    "instances",
    instances.map((instance) => ({
      revision: instance.revision,
      state: instance.state,
      stopped: stopText(instance),
      reason: instance.stopReason,
      exit: instance.exit,
    })),
  );
  const events = await platform.services.log(name, { limit: 1000 });
  note(
    "events",
    events.map(({ atMs, event, detail }) => ({ at: new Date(atMs).toISOString(), event, ...detail })),
  );
}

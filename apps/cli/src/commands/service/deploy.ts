import { resolve } from "node:path";
import { meantHint, type Platform } from "tuntas";
import { serviceErrors, type Deployed, type DeployOptions, type ServiceDefinition } from "tuntas/service";
import type { Answer, Call, Command } from "../../command.ts";
import { loadApplication } from "../../dev/load.ts";
import { actorOf, actorOption } from "../../session.ts";
import { withService } from "./lookup.ts";
import { describeService, logTable } from "./report.ts";

export const waitOptions = {
  reason: { value: "TEXT", meaning: "why, for the record" },
  ...actorOption,
  background: { meaning: "do not wait for its end" },
};

export const optionsOf = (call: Call): DeployOptions => ({
  actor: actorOf(call),
  reason: call.text("reason"),
  host: call.text("host"),
  force: call.flag("force"),
});

/**
 * The service of that name in the application's file; the alarms that are declared beside it are made known, since it may be
 * tied to them. Errors: TUNTAS_SERVICE_MISSING, those of the file.
 */
async function declaredIn(file: string, name: string, { alarms }: Platform): Promise<ServiceDefinition> {
  const parts = Object.values((await loadApplication(resolve(file))).parts);
  const all = parts.filter((part) => part.kind === "service");
  const found = all.find((each) => each.name === name);
  if (found) {
    const declared = parts.filter((part) => part.kind === "alarm");
    await alarms.declare(name, declared);
    return found;
  }
  const names = all.map((each) => each.name);
  throw serviceErrors.error(
    "TUNTAS_SERVICE_MISSING",
    `${file} declares no service ${JSON.stringify(name)}${meantHint(name, names)}`,
  );
}

/** Waits for the deployment's end, and for that of the rollback where it failed. */
export async function answerTo(
  { services }: Platform,
  name: string,
  { status, deployment }: Deployed,
  background: boolean,
): Promise<Answer> {
  const { controlled, host } = await services.describe(name);
  if (!background && !controlled && deployment.state === "in_progress")
    throw serviceErrors.error(
      "TUNTAS_SERVICE_UNCONTROLLED",
      `deployment ${deployment.id} of ${name} is on record, and nobody on ${host} carries it out`,
    );
  const ended = background ? deployment : await services.settled(deployment.id);
  const report = await services.describe(name);
  const [latest] = report.deployments;
  if (ended.state === "failed" && latest?.rollbackOf === ended.id) await services.settled(latest.id);
  const log = await services.log(name, { deploymentId: deployment.id, limit: 1000 });
  const settled = await services.describe(name);
  return {
    document: { status, deployment: ended, service: settled, log },
    text: `${logTable(log)}\n\n${describeService(settled)}`,
    status: ended.state === "failed" ? 1 : 0,
  };
}

export const serviceDeploy: Command = {
  name: "service deploy",
  summary:
    "Deploys a service as its application declares it, batch by batch, and waits; what never becomes healthy is rolled back.",
  arguments: [{ name: "SERVICE", required: true }],
  options: {
    app: { value: "FILE", meaning: "the application that declares it" },
    revision: { value: "N", meaning: "instead of --app: a revision that was deployed before" },
    host: { value: "NAME", meaning: "the machine that runs it; the one that did by default, else this one" },
    force: { meaning: "replace the instances even where that revision runs already" },
    ...waitOptions,
  },
  examples: [
    ["tuntas service deploy orders-api --app app.mjs", "a new revision, or the first"],
    ['tuntas service deploy orders-api --revision 3 --reason "4 is slow"', "one that ran before"],
    [
      "tuntas service deploy orders-api --app app.mjs --force",
      "the same again, such as after a change of secrets",
    ],
  ],
  no: "the deployment failed (and was rolled back where there was something to go back to), or nobody carries it out",
  run(call) {
    const [file, revision] = [call.text("app"), call.count("revision")];
    if ((file === undefined) === (revision === undefined))
      throw call.wrong("expected --app FILE or --revision N");
    return withService(call, async (platform, name) => {
      const { services } = platform;
      const deployed =
        file === undefined
          ? await services.redeploy(name, revision!, optionsOf(call))
          : await services.deploy(await declaredIn(file, name, platform), optionsOf(call));
      return answerTo(platform, name, deployed, call.flag("background"));
    });
  },
};

export const serviceRollback: Command = {
  name: "service rollback",
  summary: "Deploys the revision of a service that was completed last before the current one.",
  arguments: [{ name: "SERVICE", required: true }],
  options: waitOptions,
  examples: [['tuntas service rollback orders-api --reason "errors since 14:10"', "as rehearsed"]],
  no: "there is nothing to go back to, or the deployment failed",
  run: (call) =>
    withService(call, async (platform, name) =>
      answerTo(
        platform,
        name,
        await platform.services.rollback(name, optionsOf(call)),
        call.flag("background"),
      ),
    ),
};

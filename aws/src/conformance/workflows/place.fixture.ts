// Where the suite's workflows run: what it asks of each tier beside the library itself, which is the same.
import { start, type RunningApp, type StartOptions, type WorkflowDefinition } from "tuntas";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { app } from "tuntas";
import { openCloud, type Cloud } from "../../cdk/cloud.fixture.ts";
import { templateOf } from "../../cdk/stacks.fixture.ts";
import { sqs, stepFunctions } from "../../index.ts";
import { credentials } from "../sqs.fixture.ts";

export interface Place extends AsyncDisposable {
  /** The platform of the workers, in whose database their effects are. */
  readonly kit: TestPlatform;
  readonly options: Pick<StartOptions, "queues" | "workflows">;
  /** The environment and the parts of a process of its own. */
  readonly child: { readonly env: NodeJS.ProcessEnv; readonly parts: object };
  /** Makes the machine where that is not the application's business. */
  deploy(workflow: WorkflowDefinition<any>): Promise<void>;
}

export interface Tier {
  readonly name: string;
  open(): Promise<Place>;
}

export const postgresql: Tier = {
  name: "PostgreSQL",
  async open() {
    const kit = await testPlatform();
    return {
      kit,
      options: {},
      child: { env: {}, parts: { databaseUrl: kit.databaseUrl, schema: kit.schema } },
      deploy: async () => undefined,
      [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
    };
  },
};

export interface AwsPlace extends Place {
  /** What stands for AWS. */
  readonly cloud: Cloud;
}

const lease = "4s";
const responsible = { owner: "team", runbook: "runbooks/workflow.md" };

export async function openAws(): Promise<AwsPlace> {
  const [kit, cloud] = [await testPlatform(), await openCloud()];
  // Signals belong to the process and name queues by id; AWS' are not ours.
  const client = await cloud.kit.platform.database.dedicatedClient();
  await client.query(`alter sequence ${cloud.kit.schema}.queue_id_seq restart with 1000`);
  await client.end();
  return {
    kit,
    cloud,
    options: { queues: sqs({ lease }), workflows: stepFunctions() },
    child: {
      env: { ...credentials, AWS_ENDPOINT_URL: cloud.url },
      parts: { databaseUrl: kit.databaseUrl, schema: kit.schema, sqs: { lease } },
    },
    deploy: (workflow) =>
      cloud.deploy(templateOf({ workflow }, { workflows: { [workflow.name]: responsible } })),
    async [Symbol.asyncDispose]() {
      await kit[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

export const stepFunctionsTier: Tier = { name: "AWS Step Functions", open: openAws };

/** Starts the application of one workflow where the place has it. */
export async function run(
  place: Place,
  workflow: WorkflowDefinition<any>,
  more: StartOptions = {},
): Promise<RunningApp> {
  return start(app({ workflow }), { platform: place.kit.platform, ...place.options, ...more });
}

// The examples as stacks, for the tests.
import { App, Stack } from "aws-cdk-lib";
import { Peer, Port } from "aws-cdk-lib/aws-ec2";
import { Repository } from "aws-cdk-lib/aws-ecr";
import { ContainerImage, Secret } from "aws-cdk-lib/aws-ecs";
import { Secret as StoredSecret } from "aws-cdk-lib/aws-secretsmanager";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { app } from "tuntas";
import orders, { orderWork } from "../../../examples/orders/src/orders.ts";
import services from "../../../examples/orders/src/services.ts";
import cases, { caseActivation } from "../../../examples/case-activation/src/cases.ts";
import { TuntasApp, type TuntasAppProps } from "./index.ts";

export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, any>>;
}

/** A program of CDK that leaves nothing behind; findings of CloudFormation's schemas, where they are looked for, are errors. */
export function withCdk<T>(validated: boolean, work: (cdk: App) => T): T {
  const cdk = new App({
    analyticsReporting: false,
    builtinCloudFormationValidation: validated,
    context: { "@aws-cdk/core:validateAgainstDefaultRules": true },
  });
  try {
    return work(cdk);
  } finally {
    rmSync(cdk.outdir, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** What a stack holds. */
type Making = (stack: Stack) => TuntasAppProps;

/** Stacks with an application each; `validated` as `cdk synth` does it, which takes two seconds. */
export const synthesise = (makings: Readonly<Record<string, Making>>, validated = false): Template[] =>
  withCdk(validated, (cdk) => {
    for (const [name, make] of Object.entries(makings)) {
      const stack = new Stack(cdk, name);
      new TuntasApp(stack, "App", make(stack));
    }
    const assembly = cdk.synth();
    return Object.keys(makings).map((name) => assembly.getStackByName(name).template as Template);
  });

const digest = `sha256:${"0".repeat(64)}`;

export const ordersProps: Making = (stack) => {
  const stored = StoredSecret.fromSecretNameV2(stack, "Url", "orders/database");
  const common = {
    secrets: { DATABASE_URL: Secret.fromSecretsManager(stored) },
    reaches: [{ peer: Peer.ipv4("10.0.0.0/16"), port: Port.tcp(5432) }],
  };
  return {
    app: app({ ...orders.parts, ...services.parts }),
    image: ContainerImage.fromEcrRepository(Repository.fromRepositoryName(stack, "Image", "orders"), digest),
    root: dirname(fileURLToPath(import.meta.resolve("../../../examples/orders/src/services.ts"))),
    services: {
      "orders-api": {
        ...common,
        works: [],
        sends: [orderWork],
        starts: [],
        environment: { HOST: "0.0.0.0" },
      },
      "orders-worker": { ...common, works: [orderWork], sends: [], starts: [] },
    },
  };
};

export const casesProps: Making = () => ({
  app: cases,
  workflows: { [caseActivation.name]: { owner: "case-team", runbook: "runbooks/case-activation.md" } },
});

/** What an application declares, alone on AWS. */
export const templateOf = (parts: Parameters<typeof app>[0], props: Partial<TuntasAppProps> = {}): Template =>
  synthesise({ Trial: () => ({ app: app(parts), ...props }) })[0]!;

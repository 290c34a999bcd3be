// Where the services run: a network of two zones whose private half reaches AWS by endpoints and nothing else.
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  type IVpc,
  IpAddresses,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Cluster, ContainerInsights, type ICluster } from "aws-cdk-lib/aws-ecs";
import { Construct } from "constructs";

export interface ServiceNetworkProps {
  /** `10.0.0.0/16` by default. */
  readonly cidr?: string;
}

const endpoints = {
  Registry: InterfaceVpcEndpointAwsService.ECR,
  RegistryImages: InterfaceVpcEndpointAwsService.ECR_DOCKER,
  Logs: InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
  Queues: InterfaceVpcEndpointAwsService.SQS,
  Machines: InterfaceVpcEndpointAwsService.STEP_FUNCTIONS,
  Secrets: InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
};

/** A network and a cluster in it. */
export class ServiceNetwork extends Construct {
  readonly vpc: IVpc;
  readonly cluster: ICluster;

  constructor(scope: Construct, id: string, { cidr = "10.0.0.0/16" }: ServiceNetworkProps = {}) {
    super(scope, id);
    const vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr(cidr),
      maxAzs: 2,
      natGateways: 0,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: "public", subnetType: SubnetType.PUBLIC, cidrMask: 24 },
        { name: "private", subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 20 },
      ],
    });
    vpc.addGatewayEndpoint("Layers", { service: GatewayVpcEndpointAwsService.S3 });
    for (const [name, service] of Object.entries(endpoints)) vpc.addInterfaceEndpoint(name, { service });
    // Under exactOptionalPropertyTypes the classes of CDK are not quite their own interfaces.
    this.vpc = vpc as IVpc;
    const cluster = new Cluster(this, "Cluster", {
      vpc: this.vpc,
      // The number of running tasks, by which a backlog is divided.
      containerInsightsV2: ContainerInsights.ENABLED,
    });
    this.cluster = cluster as ICluster;
  }
}

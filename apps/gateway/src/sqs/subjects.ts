// The queues that a request names, for who may do what. Every one of them counts: a move task reads one and writes another.
import type { Operation, Subject } from "../wire.ts";
import { isQueuePath, parseArn, readUrl } from "./address.ts";
import { readHandle } from "./moves.ts";

/** What cannot be read names nothing that is there; the operation says so in its own words. */
function ofArn(arn: string): Subject {
  const address = parseArn(arn);
  return address ? { name: address.name, account: address.scope.account } : { name: arn };
}

export function subjectsOf(
  { input: shape }: Pick<Operation, "input">,
  input: Readonly<Record<string, unknown>>,
  path: string,
): readonly Subject[] {
  const text = (member: string) => (input[member] as string | undefined) || undefined;
  if ("QueueUrl" in shape.members) {
    const url = text("QueueUrl") ?? (isQueuePath(path) ? path : undefined);
    return url === undefined ? [] : [readUrl(url) ?? { name: url }];
  }
  const name = text("QueueName");
  if (name !== undefined) return [{ name, account: text("QueueOwnerAWSAccountId") }];
  const handle = text("TaskHandle");
  const arns = [text("SourceArn"), text("DestinationArn"), handle && readHandle(handle)?.sourceArn];
  return arns.flatMap((arn) => (arn ? [ofArn(arn)] : []));
}

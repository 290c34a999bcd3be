import { expect, test } from "vitest";
import { identify } from "./identity.ts";

const header = (credential: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=00`,
});

test("a 12-digit access key id is the account, and the region is the credential scope's", () => {
  const scope = { account: "123456789012", region: "eu-west-1" };
  expect(identify(header("123456789012/20260101/eu-west-1/sqs/aws4_request"), "/")).toEqual(scope);
  expect(
    identify(
      {},
      "/?Action=ListQueues&X-Amz-Credential=123456789012%2F20260101%2Feu-west-1%2Fsqs%2Faws4_request",
    ),
  ).toEqual(scope);
});

test("any other key, and none at all, is the default account", () => {
  const scope = { account: "000000000000", region: "us-east-1" };
  expect(identify(header("test/20260101/us-east-1/sqs/aws4_request"), "/")).toEqual(scope);
  expect(identify({}, "/")).toEqual(scope);
});

test("a credential that cannot be read is IncompleteSignature", () => {
  for (const credential of [
    "",
    "test",
    "test/2026/us-east-1/sqs/aws4_request",
    "test/20260101/US EAST/sqs/aws4_request",
  ]) {
    expect(() => identify(header(credential), "/")).toThrow(/Credential/);
  }
  expect(() => identify({}, "/?X-Amz-Credential=%FF")).toThrow(/Credential/);
});

test("a long header without a credential is refused at once", () => {
  for (const filling of [" ", ",", ", "]) {
    const authorization = `AWS4-HMAC-SHA256${filling.repeat(60_000)}`;
    expect(() => identify({ authorization }, "/")).toThrow(/Credential/);
  }
});

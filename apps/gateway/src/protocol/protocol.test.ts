// Whatever comes in, the decoders answer an input or a coded error, and never anything else.
import fc from "fast-check";
import { expect, test } from "vitest";
import { shapes } from "../sqs/shapes.ts";
import { WireError } from "../wire.ts";
import { decodeJson } from "./json.ts";
import { decodeQuery, parseParameters, renderXml, renderXmlError } from "./query.ts";
import { sqsErrors } from "../sqs/errors.ts";

const anyShape = fc.constantFrom(...Object.values(shapes));

function onlyCoded(work: () => unknown): void {
  try {
    work();
  } catch (cause) {
    expect(cause).toBeInstanceOf(WireError);
  }
}

test("any bytes as a JSON body decode or fail with a coded error", () => {
  fc.assert(
    fc.property(anyShape, fc.uint8Array({ maxLength: 200 }), (shape, bytes) =>
      onlyCoded(() => decodeJson(shape, Buffer.from(bytes))),
    ),
  );
});

const nearMiss = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom(
        "QueueUrl",
        "Entries",
        "Attributes",
        "MessageAttributes",
        "Id",
        "__proto__",
        "constructor",
        "Tags",
      ),
      tie("value"),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
  ),
})).value;

test("any JSON value near to an input decodes or fails with a coded error", () => {
  fc.assert(
    fc.property(anyShape, nearMiss, (shape, value) =>
      onlyCoded(() => decodeJson(shape, Buffer.from(JSON.stringify(value) ?? ""))),
    ),
  );
});

test("any query string and form decode or fail with a coded error", () => {
  const name = fc
    .array(
      fc.constantFrom(
        "Attribute",
        "1",
        "Name",
        "Value",
        "Entries",
        "SendMessageBatchRequestEntry",
        "__proto__",
        "",
        "%",
        "Tag",
      ),
      { maxLength: 10 },
    )
    .map((parts) => parts.join("."));
  const pair = fc.tuple(name, fc.string()).map(([key, value]) => `${key}=${value}`);
  const form = fc.oneof(
    fc.array(pair, { maxLength: 12 }).map((pairs) => pairs.join("&")),
    fc.string(),
  );
  fc.assert(
    fc.property(anyShape, form, form, (shape, queryString, body) =>
      onlyCoded(() => decodeQuery(shape, parseParameters(queryString, Buffer.from(body)))),
    ),
  );
});

test("a body that is not UTF-8 is refused rather than altered", () => {
  const broken = Buffer.concat([
    Buffer.from('{"MessageBody":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ]);
  expect(() => decodeJson(shapes.sendMessage, broken)).toThrow(/UTF-8/);
  expect(() => parseParameters("", Buffer.from([0x61, 0x3d, 0xff]))).toThrow(/UTF-8/);
  expect(() => parseParameters("MessageBody=%FF", Buffer.alloc(0))).toThrow(/UTF-8/);
});

test("__proto__ is a key like any other", () => {
  const input = decodeJson(shapes.tagQueue, Buffer.from('{"Tags":{"__proto__":"x"}}'));
  expect(Object.keys(input.Tags as object)).toEqual(["__proto__"]);
  const form = decodeQuery(
    shapes.tagQueue,
    parseParameters("Tag.1.Key=__proto__&Tag.1.Value=x", Buffer.alloc(0)),
  );
  expect(Object.keys(form.Tags as object)).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test("deep nesting of what nobody asked for is ignored", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  onlyCoded(() => decodeJson(shapes.sendMessage, Buffer.from(`{"MessageBody":"x","Other":${deep}}`)));
});

test("members that the shape does not have are taken out, also of structures within", () => {
  const body =
    '{"MessageBody":"x","SourceArn":"y","__proto__":{},"MessageAttributes":{"a":{"DataType":"String","Other":1}}}';
  const input = decodeJson(shapes.sendMessage, Buffer.from(body));
  expect(input).toEqual({ MessageBody: "x", MessageAttributes: { a: { DataType: "String" } } });
  expect(Object.keys(input)).toEqual(["MessageBody", "MessageAttributes"]);
});

test("what is null counts as absent, in structures and in maps", () => {
  const input = decodeJson(
    shapes.createQueue,
    Buffer.from('{"QueueName":null,"Attributes":{"a":null,"b":"x"}}'),
  );
  expect(input).toEqual({ Attributes: { b: "x" } });
});

test("a single element may stand without a number, as in AWS's own examples", () => {
  const decode = (shape: Parameters<typeof decodeQuery>[0], text: string) =>
    decodeQuery(shape, parseParameters(text, Buffer.alloc(0)));
  expect(decode(shapes.setAttributes, "Attribute.Name=VisibilityTimeout&Attribute.Value=35")).toEqual({
    Attributes: { VisibilityTimeout: "35" },
  });
  const entry = "DeleteMessageBatchRequestEntry";
  expect(decode(shapes.deleteBatch, `${entry}.Id=a&${entry}.ReceiptHandle=b`)).toEqual({
    Entries: [{ Id: "a", ReceiptHandle: "b" }],
  });
  expect(decode(shapes.getAttributes, "AttributeName=All")).toEqual({ AttributeNames: ["All"] });
});

test("bytes are padded base64, or refused", () => {
  const json = (value: string) =>
    decodeJson(
      shapes.sendMessage,
      Buffer.from(`{"MessageAttributes":{"a":{"BinaryValue":${JSON.stringify(value)}}}}`),
    );
  const form = (value: string) =>
    decodeQuery(
      shapes.sendMessage,
      parseParameters(
        `MessageAttribute.1.Name=a&MessageAttribute.1.Value.BinaryValue=${encodeURIComponent(value)}`,
        Buffer.alloc(0),
      ),
    );
  for (const decode of [json, form]) {
    for (const value of ["", "QQ==", "QUI=", "QUJD"])
      expect(decode(value)).toMatchObject({ MessageAttributes: { a: { BinaryValue: value } } });
    for (const value of ["QQ", "QQ=", "Q", "Q===", "QQ==QQ==", "Q-_=", "QQ= ="])
      expect(() => decode(value)).toThrow(WireError);
  }
});

test("null members count as absent", () => {
  expect(decodeJson(shapes.sendMessage, Buffer.from('{"DelaySeconds":null}')).DelaySeconds).toBeUndefined();
});

test("list elements come in the order of their numbers, also with gaps", () => {
  const parameters = parseParameters(
    "AttributeName.10=c&AttributeName.2=b&AttributeName.1=a",
    Buffer.alloc(0),
  );
  expect(decodeQuery(shapes.getAttributes, parameters)).toEqual({ AttributeNames: ["a", "b", "c"] });
});

test("more than 10,000 parameters are refused", () => {
  const many = Array.from({ length: 10_001 }, (_, index) => `a${index}=1`).join("&");
  expect(() => parseParameters(many, Buffer.alloc(0))).toThrow(WireError);
});

test("XML escapes what a parser would read otherwise, and has no character that XML forbids", () => {
  const result = { Messages: [{ Body: 'a<b>&"\r\n', Attributes: { k: "v" } }] };
  const xml = renderXml({
    action: "ReceiveMessage",
    namespace: "n",
    requestId: "r",
    output: shapes.received,
    result,
  });
  expect(xml).toContain(
    "<Message><Body>a&lt;b&gt;&amp;&quot;&#xD;\n</Body><Attribute><Name>k</Name><Value>v</Value></Attribute></Message>",
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const error = renderXmlError(new WireError(sqsErrors.invalidParameterValue, text), "n", "r");
      // eslint-disable-next-line no-control-regex
      expect(error).not.toMatch(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/);
    }),
  );
});

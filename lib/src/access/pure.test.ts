import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { covers, hide, isScope, mask, masked, maskText, pathsOf } from "./index.ts";

test("C-17: sensitive fields are hidden from who may not see them, by path", () => {
  const order = {
    id: 1,
    customer: { name: "Ada", email: "a@b.c" },
    lines: [{ card: "4111", sku: "x" }, { sku: "y" }],
  };
  const paths = ["customer.email", "lines.*.card", "missing.field"];
  const hidden = {
    id: 1,
    customer: { name: "Ada", email: masked },
    lines: [{ card: masked, sku: "x" }, { sku: "y" }],
  };
  for (const role of ["viewer", "operator"] as const)
    expect(mask(order, paths, { role, reveal: true })).toEqual(hidden);
  for (const role of ["approver", "admin"] as const) {
    expect(mask(order, paths, { role })).toEqual(hidden);
    expect(mask(order, paths, { role, reveal: true })).toBe(order);
  }
  expect(maskText("not json with 4111", paths, { role: "viewer" })).toBe(masked);
  expect(maskText("not json", [], { role: "viewer" })).toBe("not json");
});

test("a schema says itself what is sensitive", () => {
  const schema = z.object({
    orderId: z.string(),
    email: z.string().meta({ sensitive: true }),
    address: z.object({ street: z.string().meta({ sensitive: true }), city: z.string() }).optional(),
    cards: z.array(z.object({ number: z.string().meta({ sensitive: true }), brand: z.string() })),
    notes: z.record(z.string(), z.string().meta({ sensitive: true })),
    either: z.union([z.object({ pin: z.string().meta({ sensitive: true }) }), z.string()]),
  });
  expect(pathsOf(schema)).toEqual(["address.street", "cards.*.number", "either.pin", "email", "notes.*"]);
});

test("what is hidden stays hidden, and nothing else changes", () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(json, json, (secret, open) => {
      const value = { secret, open, list: [{ secret, open }] };
      expect(hide(value, ["secret", "list.*.secret"])).toEqual({
        secret: masked,
        open,
        list: [{ secret: masked, open }],
      });
      expect(hide(value, [])).toBe(value);
      expect(hide(value, ["open.__proto__.x", "nothing"])).toEqual(value);
    }),
  );
});

test("a scope covers the action and the resource that it names, and no more", () => {
  const send = { service: "sqs", action: "SendMessage", resource: "order-work" } as const;
  const list = { service: "sqs", action: "ListQueues", resource: undefined } as const;
  expect(covers(["sqs:SendMessage"], send)).toBe(true);
  expect(covers(["sqs:Send*@order-*"], send)).toBe(true);
  expect(covers(["sqs:*@*"], list)).toBe(true);
  expect(covers(["sqs:*"], list)).toBe(true);
  for (const scopes of [
    [],
    ["states:*"],
    ["sqs:Receive*"],
    ["sqs:*@bills"],
    ["sqs:*@order"],
    ["console:admin"],
  ])
    expect(covers(scopes, send), scopes.join()).toBe(false);
  expect(covers(["sqs:*@order-*"], list)).toBe(false);
  expect(covers(["sqs:*@a*b*a"], { ...send, resource: "aba" })).toBe(true);
  expect(covers(["sqs:*@ab*ba"], { ...send, resource: "aba" })).toBe(false);
  for (const scope of ["sqs:SendMessage", "states:*", "console:viewer", "sqs:*@arn:aws:sqs:*"])
    expect(isScope(scope)).toBe(true);
  for (const scope of ["", "*", "s3:*", "sqs", "console:root", "sqs:*@a b"])
    expect(isScope(scope)).toBe(false);
});

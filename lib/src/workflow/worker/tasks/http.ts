// `http:invoke` where no task endpoint is set: the request itself, without a connection's credentials.
import type { Json, JsonObject } from "../../../asl/contract.ts";
import type { TaskRunner } from "./task.ts";

function requestOf(given: JsonObject): { url: string; init: RequestInit } {
  const url = new URL(String(given.ApiEndpoint));
  for (const [name, value] of Object.entries((given.QueryParameters ?? {}) as JsonObject))
    for (const each of Array.isArray(value) ? (value as readonly Json[]) : [value])
      url.searchParams.append(name, String(each));
  const body = given.RequestBody;
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...((given.Headers ?? {}) as Record<string, string>),
  };
  const method = String(given.Method ?? "GET");
  return {
    url: url.href,
    init: { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
  };
}

const parsed = (text: string, type: string): Json =>
  type.includes("json") && text !== "" ? (JSON.parse(text) as Json) : text;

export const invokeHttp: TaskRunner = async (task, { signal }) => {
  const { url, init } = requestOf(task.input as JsonObject);
  const response = await fetch(url, { ...init, signal });
  const text = await response.text();
  const headers = Object.fromEntries([...response.headers].map(([name, value]) => [name, [value]]));
  if (!response.ok)
    return { error: `States.Http.StatusCode.${response.status}`, cause: text || response.statusText };
  return {
    output: {
      Headers: headers,
      ResponseBody: parsed(text, response.headers.get("content-type") ?? ""),
      StatusCode: response.status,
      StatusText: response.statusText,
    },
  };
};

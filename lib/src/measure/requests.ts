// What an HTTP service announces of its requests. The service itself is a package of its own; its figures are kept beside
// all others.
import { metrics, signals } from "../engine/signals.ts";

const service = "TUNTAS_SERVICE, else `application`";

export const requestSignals = signals({
  "http.request": {
    meaning: "A request was answered, or its caller went away (499).",
    fields: {
      service,
      class: "2xx, 3xx, 4xx or 5xx",
      route: "the route",
      durationMs: "how long it took",
      tenant: "whose it was, where the service says that",
    },
  },
});

export const requestMetrics = metrics({
  tuntas_http_requests_total: {
    kind: "counter",
    meaning: "Requests by the class of their status.",
    labels: ["service", "class"],
    from: [{ signal: "http.request" }],
    kept: true,
  },
});

import { metrics, signals } from "../signals.ts";

/** What is told of calls to the outside, by `downstream` and by the providers of the ledger. */
export const downstreamSignals = signals({
  "downstream.called": {
    meaning: "A call to a downstream or a provider ended, or was refused here.",
    fields: {
      downstream: "its name",
      outcome: "`ok`, `failed`, `timeout`; `open` and `full` where the call was not made",
      durationMs: "how long it took; 0 where it was not made",
    },
  },
});

const from = [{ signal: "downstream.called" }];

export const downstreamMetrics = metrics({
  tuntas_downstream_calls_total: {
    kind: "counter",
    meaning: "Calls to downstreams and providers by what they came to; `open` and `full` were not made.",
    labels: ["downstream", "outcome"],
    from,
    kept: true,
  },
  tuntas_downstream_call_milliseconds_total: {
    kind: "counter",
    meaning: "What these calls took together.",
    labels: ["downstream"],
    from: [{ ...from[0]!, amount: "durationMs" }],
    kept: true,
  },
});

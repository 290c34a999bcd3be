// The console's API as types, which its server and its pages share. A read is `GET /console/api/NAME?…`, an act is
// `POST /console/api/NAME` with a JSON body.
import type { None } from "./basics.ts";
import type { HomeView } from "./home.ts";
import type { QueueActs, QueueReads } from "./queues.ts";
import type { SessionView } from "./session.ts";

export type * from "./basics.ts";
export type * from "./home.ts";
export type * from "./queues.ts";
export type * from "./session.ts";

export interface Reads extends QueueReads {
  session: { query: None; answer: SessionView };
  home: { query: None; answer: HomeView };
}

export interface Acts extends QueueActs {}

export type ReadName = keyof Reads;
export type ActName = keyof Acts;
export type QueryOf<N extends ReadName> = Reads[N]["query"];
export type AnswerOf<N extends ReadName> = Reads[N]["answer"];
export type BodyOf<N extends ActName> = Acts[N]["body"];
export type OutcomeOf<N extends ActName> = Acts[N]["answer"];

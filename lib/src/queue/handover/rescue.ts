// What the heartbeat thread asks of this room where the event loop is blocked: nothing more comes, and what that loop will not
// get to goes back.
import type { ThreadTexts } from "../../engine/process/thread.ts";
import { lastFenceText, unknownText, withdrawText } from "./store.ts";
import { refreshText, releaseText } from "../store/settle.ts";

export const rescueTexts: ThreadTexts = {
  release: releaseText,
  refresh: refreshText,
  withdraw: withdrawText,
  lastFence: lastFenceText,
  unknown: unknownText,
};

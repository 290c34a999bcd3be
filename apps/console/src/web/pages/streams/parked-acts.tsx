// Replay and discard: of one parked record, or of all that a consumer has parked.
import { useState } from "react";
import type { ConsumerView } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { counted } from "../../furniture/count.tsx";
import { Confirm } from "../../furniture/confirm.tsx";

/** Some parked records of a consumer; all of them where no ids are given. */
interface Choice {
  readonly stream: string;
  readonly consumer: string;
  readonly ids?: readonly string[];
  /** In words. */
  readonly what: string;
}

interface DialogProps {
  readonly choice: Choice;
  readonly onClose: () => void;
}

const toldOf = (ids: readonly string[], what: string): string =>
  ids.length === 0 ? "None was parked any more." : `${counted(ids.length, "record")} ${what}`;

function Replay({ choice: { what, ...of }, onClose }: DialogProps) {
  const replay = useAct("stream.replay");
  return (
    <Confirm
      title={`Replay ${what}`}
      verb="Replay"
      onClose={onClose}
      run={async (reason) => {
        const { ids } = await replay.mutateAsync({ ...of, reason });
        return toldOf(ids, "to be handled again; what fails once more stays here, with its new cause.");
      }}
    >
      <p>
        {of.consumer} handles it again, once, told that it is a replay. Records of its key that came after it
        were handled before it: its handler has to bear that.
      </p>
    </Confirm>
  );
}

function Discard({ choice: { what, ...of }, onClose }: DialogProps) {
  const discard = useAct("stream.discard");
  return (
    <Confirm
      danger
      title={`Discard ${what}`}
      verb="Discard"
      typeName={of.consumer}
      onClose={onClose}
      run={async (reason) => {
        const { ids } = await discard.mutateAsync({ ...of, reason });
        return toldOf(ids, "removed.");
      }}
    >
      <p>
        {of.consumer} will not have handled it. The record stays in the stream for its retention, and other
        consumers are not touched.
      </p>
    </Confirm>
  );
}

const dialogs = { replay: Replay, discard: Discard };

export function ParkedActs({ choice, suffix = "" }: { readonly choice: Choice; readonly suffix?: string }) {
  const [asked, setAsked] = useState<keyof typeof dialogs>();
  const may = useMay()("stream.change");
  const Asking = asked && dialogs[asked];
  return (
    <span className="row">
      <button
        type="button"
        className="button"
        data-kind="primary"
        disabled={!may}
        onClick={() => setAsked("replay")}
      >
        Replay{suffix}
      </button>
      <button type="button" className="button" disabled={!may} onClick={() => setAsked("discard")}>
        Discard{suffix}
      </button>
      {Asking && <Asking choice={choice} onClose={() => setAsked(undefined)} />}
    </span>
  );
}

export function AllParked({ consumer: { stream, name, parked } }: { readonly consumer: ConsumerView }) {
  const what = `all ${parked} that ${name} has parked`;
  return <ParkedActs choice={{ stream, consumer: name, what }} suffix={` all ${parked}`} />;
}

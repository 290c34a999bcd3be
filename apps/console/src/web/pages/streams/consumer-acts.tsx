// Resume, rewind, forget; and passing over one record, which is a rewind to the one behind it.
import { useState } from "react";
import type { ConsumerPartition } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { counted } from "../../furniture/count.tsx";
import { nameOf, Rewind, type ConsumerProps, type DialogProps } from "./rewind.tsx";

export function Resume({ onClose, ...of }: DialogProps) {
  const resume = useAct("stream.resume");
  const { name, partitions } = of.consumer;
  const stopped = partitions.filter(({ stoppedAtMs }) => stoppedAtMs !== null).length;
  return (
    <Confirm
      title={`Resume ${name}`}
      verb="Resume it"
      onClose={onClose}
      run={async (reason) => {
        const { partitions: resumed } = await resume.mutateAsync({ ...nameOf(of), reason });
        return `Resumed ${counted(resumed.length, "partition")}: each begins with the record that it stopped at.`;
      }}
    >
      <p>
        Has the record tried again at which {counted(stopped, "partition")} stopped. Where the cause is not
        mended, it stops there once more.
      </p>
    </Confirm>
  );
}

interface SkipProps extends DialogProps {
  readonly partition: ConsumerPartition;
}

export function Skip({ partition: { partition, nextOffset }, onClose, ...of }: SkipProps) {
  const rewind = useAct("stream.rewind");
  const { name } = of.consumer;
  return (
    <Confirm
      danger
      title={`Skip offset ${nextOffset} of partition ${partition}`}
      verb="Skip the record"
      typeName={name}
      onClose={onClose}
      run={async (reason) => {
        const offset = nextOffset + 1;
        await rewind.mutateAsync({ ...nameOf(of), to: "offset", partition, offset, reason });
        return `${name} goes on with offset ${offset}. The record stays in the stream.`;
      }}
    >
      <p>
        {name} will not have handled this record, and goes on with what comes after it, of the same key too.
      </p>
    </Confirm>
  );
}

function Forget({ onClose, ...of }: DialogProps) {
  const forget = useAct("stream.forget");
  const { name, parked, stream } = of.consumer;
  return (
    <Confirm
      danger
      title={`Forget ${name}`}
      verb="Forget it"
      typeName={name}
      onClose={onClose}
      run={async (reason) => {
        await forget.mutateAsync({ ...nameOf(of), reason });
        return `${stream} keeps nothing for it any more. Declared again, it begins anew.`;
      }}
    >
      <p>
        Removes its checkpoints and what it has parked ({counted(parked, "record")}). For a consumer that no
        code declares any more.
      </p>
    </Confirm>
  );
}

const dialogs = { resume: Resume, rewind: Rewind, forget: Forget };

export function ConsumerActs(of: ConsumerProps) {
  const [asked, setAsked] = useState<keyof typeof dialogs>();
  const may = useMay()("stream.change");
  const Asking = asked && dialogs[asked];
  const { standing, members } = of.consumer;
  const button = (name: keyof typeof dialogs, text: string, primary = false) => (
    <button
      type="button"
      className="button"
      data-kind={primary ? "primary" : undefined}
      disabled={!may}
      onClick={() => setAsked(name)}
    >
      {text}
    </button>
  );
  return (
    <span className="row">
      {standing === "stopped" && button("resume", "Resume", true)}
      {button("rewind", "Rewind")}
      {members === 0 && button("forget", "Forget")}
      {Asking && <Asking {...of} onClose={() => setAsked(undefined)} />}
    </span>
  );
}

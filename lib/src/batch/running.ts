// What of which job is worked on in this process, so that it stops when the job is cancelled.

export interface RunningJobs {
  add(job: string): AbortController;
  remove(job: string, controller: AbortController): void;
  ids(): string[];
  cancel(job: string): void;
}

export function makeRunningJobs(): RunningJobs {
  const all = new Map<string, Set<AbortController>>();
  return {
    add(job) {
      const controller = new AbortController();
      all.set(job, (all.get(job) ?? new Set()).add(controller));
      return controller;
    },
    remove(job, controller) {
      const own = all.get(job);
      own?.delete(controller);
      if (own?.size === 0) all.delete(job);
    },
    ids: () => [...all.keys()],
    cancel: (job) => all.get(job)?.forEach((each) => each.abort(new Error("the job was cancelled"))),
  };
}

import type { Account } from '../account/account.ts';
import { isForHealth } from '../account/auto-scaling-causes.ts';
import type { Entry } from '../account/journal.ts';
import { OWN_GROUP } from './build-fleet.ts';

/** What a deployment cost. */
export interface Measures {
  /** Instances that Auto Scaling ended for their health, those among them that it had launched meanwhile. */
  readonly replaced: number;
  readonly requestsSent: number;
  readonly requestsFailed: number;
  readonly minutes: number;
  /** Minutes in which an instance was suppressed and nobody worked on it (D41). */
  readonly blindInstanceMinutes: number;
  /** Application status checks that are included in the end. */
  readonly includedChecks: number;
  /** Security groups from which checks were asked, and nothing else, that are left. */
  readonly ownGroups: number;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Milliseconds since the epoch. */
interface Times {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly seenUntil: number;
}

export function measure(account: Account, { startedAt, endedAt, seenUntil }: Times): Measures {
  const { sent, failed } = account.traffic.totals();
  const isSeen = ({ at }: Entry) => startedAt <= at && at <= seenUntil;
  const ended = account.world.journal.entries.filter(
    entry => entry.type === 'activity' && entry.kind === 'terminate' && isForHealth(entry.cause),
  );
  return {
    replaced: ended.filter(isSeen).length,
    requestsSent: sent,
    requestsFailed: failed,
    minutes: (endedAt - startedAt) / 60_000,
    blindInstanceMinutes: blindMs(account, startedAt) / 60_000,
    includedChecks: account.checks.registry
      .active()
      .filter(({ settings }) => settings.aggregation === 'included').length,
    ownGroups: [...account.ec2.network.securityGroups.values()].filter(({ name }) => name === OWN_GROUP)
      .length,
  };
}

function blindMs({ world: { journal, clock } }: Account, startedAt: number): number {
  const blind = new Map<string, Span[]>();
  const worked = new Map<string, Span[]>();
  const open = (spans: Map<string, Span[]>, id: string, at: number) =>
    spans.set(id, [...(spans.get(id) ?? []), { from: at, to: Number.POSITIVE_INFINITY }]);
  const close = (spans: Map<string, Span[]>, id: string, at: number) => {
    const last = spans.get(id)?.at(-1);
    if (last?.to === Number.POSITIVE_INFINITY) spans.get(id)?.splice(-1, 1, { from: last.from, to: at });
  };
  for (const entry of journal.entries) {
    if (entry.at < startedAt) continue;
    if (entry.type === 'suppression' && entry.state === 'suppressed') open(blind, entry.instanceId, entry.at);
    if (entry.type === 'suppression' && entry.state === 'released') close(blind, entry.instanceId, entry.at);
    if (entry.type === 'deployment' && entry.state === 'installing')
      for (const id of entry.instanceIds) open(worked, id, entry.at);
    if (entry.type === 'deployment' && entry.state === 'installed')
      for (const id of entry.instanceIds) close(worked, id, entry.at);
  }
  let sum = 0;
  for (const [id, spans] of blind)
    for (const { from, to } of spans) {
      const end = Math.min(to, clock.now());
      const working = (worked.get(id) ?? []).map(span =>
        Math.max(0, Math.min(end, span.to) - Math.max(from, span.from)),
      );
      sum += end - from - working.reduce((a, b) => a + b, 0);
    }
  return sum;
}

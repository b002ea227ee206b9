import type { Stack } from '../stack/deploy.ts';
import { judgeAlarms } from './alarm-changes.ts';
import type { Evidence } from './evidence.ts';
import { targetIdOf } from './underway.ts';

/** How much later a run may end when its calls fail and are repeated: what the product itself allows for. */
const REPEATING_SECONDS = 900;

/** What the ledger holds under one key; all but the key only of a run. Times are seconds since the epoch. */
export interface LedgerItem {
  readonly pk: string;
  readonly status: string | undefined;
  readonly outcome?: string | undefined;
  readonly error?: string | undefined;
  readonly deadline?: number | undefined;
  readonly goAheadAt?: number | undefined;
  readonly resumedAt?: number | undefined;
  readonly endedAt?: number | undefined;
}

/** What the account was like before the first run. */
export interface Start {
  readonly memberships: ReadonlyMap<string, string>;
  readonly suspended: ReadonlySet<string>;
}

/** Invariants 4 and 7, when every run is over: nothing is left, and everything has ended and says how. */
export function judgeEnd(
  evidence: Evidence,
  start: Start,
  stack: Stack,
  ledger: readonly LedgerItem[],
): void {
  const { scenario, broken } = evidence;
  judgeExecutions(evidence, stack);
  judgeSuppressions(evidence);
  judgeMemberships(evidence, start);
  judgeProcesses(evidence, start);
  judgeAlarms(evidence);
  for (const item of ledger) {
    if (!holdsNothing(item.pk)) broken(4, `the ledger still holds ${item.pk}`);
    if (item.pk.startsWith('adoption#') && item.status !== 'ended')
      broken(7, `${item.pk} is still ${item.status}`);
    if (item.pk.startsWith('run#')) judgeRun(evidence, item, scenario.faults ? REPEATING_SECONDS : 0);
  }
}

function judgeExecutions({ broken }: Evidence, stack: Stack): void {
  for (const execution of stack.executions.all())
    if (execution.status === 'RUNNING') broken(7, `${execution.name} has not ended`);
    else if (execution.status === 'TIMED_OUT')
      broken(7, `${execution.name} has not ended by itself before its machine's time-out`);
    else if (execution.status !== 'SUCCEEDED' && !(execution.error && execution.cause))
      broken(7, `${execution.name} ended as ${execution.status} and does not say why`);
}

function judgeSuppressions({ account, fleet, others, people, broken }: Evidence): void {
  for (const { id } of fleet.built.instances) {
    if (!fleet.isRunning(id) || people.hasSuppressed(id) || others.isUnseen(id)) continue;
    const suppression = account.checks.suppression(id);
    const releasing = suppression?.state === 'releasing';
    const othersEnd = others.endsAt(id);
    // What was lengthened and cannot be shortened again ends by its duration.
    const lengthened = others.wasFound(id) && account.world.physics.secondEnable === 'extends';
    if (othersEnd === undefined) {
      if (suppression && !releasing && !lengthened) broken(4, `${id} is still suppressed`);
      continue;
    }
    if (!suppression || releasing) broken(4, `the suppression that somebody else had set on ${id} is gone`);
    else if ((suppression.resumesAt ?? Number.POSITIVE_INFINITY) < othersEnd)
      broken(4, `the suppression that somebody else had set on ${id} ends earlier than it did`);
  }
  for (const { id } of fleet.launchedSince()) {
    const suppression = account.checks.suppression(id);
    if (suppression && suppression.state !== 'releasing')
      broken(4, `${id}, which was launched meanwhile, is still suppressed`);
  }
}

function judgeMemberships(
  { account: { loadBalancing }, fleet, scenario, people, underway, broken }: Evidence,
  { memberships }: Start,
): void {
  // CodeDeploy's own step puts back one port of each instance.
  if (scenario.deployment.loadBalancerStep) return;
  const now = fleet.memberships();
  const isDue = (instanceId: string) => fleet.isServing(instanceId) && !people.hasTakenOut(instanceId);
  for (const [key, instanceId] of memberships)
    if (!now.has(key) && isDue(instanceId)) broken(4, `${key} was not put back`);
  // Also what was registered only meanwhile, when it was we who have taken it out.
  for (const target of underway.out) {
    const [arn = '', name] = target.split(' ');
    const group = loadBalancing.groups().find(one => one.arn === arn);
    if (!group) continue;
    const key = `${group.name} ${name}`;
    const instance = fleet.behind(targetIdOf(target));
    if (!instance || !isDue(instance.id) || memberships.has(key)) continue;
    const isBack = loadBalancing
      .statesOf(arn, instance)
      .some(({ target: { id, port }, state }) => `${id}:${port}` === name && !state.endsWith('draining'));
    if (!isBack) broken(4, `${key}, which we had taken out, was not put back`);
  }
}

function judgeProcesses({ fleet, broken }: Evidence, start: Start): void {
  const now = fleet.suspended();
  for (const process of now) if (!start.suspended.has(process)) broken(4, `${process} is still suspended`);
  for (const process of start.suspended)
    if (!now.has(process)) broken(4, `${process}, which somebody else had suspended, was resumed`);
}

function judgeRun({ broken }: Evidence, run: LedgerItem, toleratedSeconds: number): void {
  if (run.status === 'live') broken(7, `${run.pk} is still live`);
  if (run.outcome === 'failed' && !run.error) broken(7, `${run.pk} has failed and does not say why`);
  // The deployment itself takes as long as it takes.
  const waitsForDeployment = run.goAheadAt !== undefined && run.resumedAt === undefined;
  if (waitsForDeployment || run.endedAt === undefined || run.deadline === undefined) return;
  const late = run.endedAt - run.deadline - toleratedSeconds;
  if (late > 0) broken(7, `${run.pk} ended ${late} s after its budget`);
}

/** Is it one of the ledger's items that remember, and neither claim nor hold anything? */
export const holdsNothing = (pk: string): boolean => HOLDS_NOTHING.test(pk);

const HOLDS_NOTHING =
  /^(alarm|alarms|run|refusal|observer|seen|pace|hooks|lifecycle|adoption|demotion|retirement|interface|looks|succession|healthlog|zones|resource|stack)#/;

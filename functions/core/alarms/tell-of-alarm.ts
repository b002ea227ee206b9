import { applicationStatusChecks, type CheckFacts } from '../aws/application-status.ts';
import { startExecution } from '../aws/step-functions.ts';
import { type AlarmNews, announceAlarm } from '../domain/alarm-announcement.ts';
import { groupLabel, subjectOf } from '../domain/alarm-names.ts';
import { type AlarmSettings, shapesOf } from '../domain/alarms.ts';
import { diagnose } from '../domain/diagnosis.ts';
import { observedCheck } from '../domain/observed-fleet.ts';
import { findInstances } from '../ledger/instances.ts';
import { claimTelling, forgetFailureTold, markFailureTold, wasFailureTold } from '../ledger/told-alarms.ts';
import { executionName } from '../naming.ts';
import { type OptInTag, setting } from '../settings.ts';
import { groupOf, type Reported, reportedInstances, watchedGroups } from './watched.ts';

/** A state that an alarm of ours has entered, or one of the instances that it watches. */
export interface AlarmChange {
  readonly alarm: string;
  readonly state: 'ALARM' | 'OK';
  /** CloudWatch's own sentence. */
  readonly reason: string;
  /** Seconds since the epoch. */
  readonly at: number;
  /** Of an alarm over many instances: whose state it is. */
  readonly instanceId?: string;
}

type Shaping = Pick<AlarmSettings, 'prefix' | 'instancesPerGroup' | 'instanceAlarms'>;
type Subject = AlarmNews['subject'];

/**
 * Has people told of an alarm with what is wrong, each alarm at most once a minute for all its instances. Nothing is told of
 * what a run works on, whose application is stopped on purpose; of instances that are none of ours, which an alarm over a whole
 * account sees too (D21); and nothing is over that was not told.
 *
 * @param invocation of the function: Lambda's retry of it has the same
 * @returns whether people are told
 */
export async function tellOfAlarm(
  change: AlarmChange,
  tag: OptInTag,
  shaping: Shaping,
  invocation: string,
): Promise<boolean> {
  const subject = subjectOf(shaping.prefix, change.alarm);
  if (!subject || subject.of === 'instance') return false;
  // Before anything is read: a hundred instances that fail together are a hundred calls of this.
  if (!(await claimTelling(tellingOf(change), invocation, change.at))) return false;
  const scope = scopeOf(subject);
  const among = amongOf(subject, await reportedInstances(tag), shaping);
  const about = await whomItIsAbout(subject, among);
  if (change.state === 'OK') {
    if (about.length > 0 && subject.of === 'check') return false;
    if (!(await wasFailureTold(scope))) return false;
    await tell(change, { subject, about: [], among: [] });
    await forgetFailureTold(scope);
    return true;
  }
  if (about.length === 0 && !isUnseen(change, subject, among)) return false;
  await tell(change, { subject, about, among });
  if (!isOfSilence(subject)) await markFailureTold(scope, change.at);
  return true;
}

const scopeOf = (subject: Subject): string => {
  if (subject.of === 'group') return subject.label;
  return subject.of === 'check' ? subject.checkId : subject.of;
};

const isOfSilence = (subject: Subject): boolean => subject.of === 'group' && subject.what === 'check-silent';

const tellingOf = ({ alarm, state, at }: AlarmChange): string => `${alarm} ${state} ${Math.floor(at / 60)}`;

const isOneOf = (some: readonly Reported[], id: string): boolean =>
  some.some(({ instance }) => instance.id === id);

/** May the description not show what the alarm rings at? It lies behind the metrics, but for what is seen to fail. */
function isUnseen({ instanceId }: AlarmChange, subject: Subject, among: readonly Reported[]): boolean {
  if (isOfSilence(subject)) return true;
  return !among.some(fails) && (instanceId === undefined || isOneOf(among, instanceId));
}

/** The instances that the alarm watches. */
function amongOf(subject: Subject, reported: readonly Reported[], shaping: Shaping): readonly Reported[] {
  if (subject.of === 'group') return reported.filter(one => groupLabel(groupOf(one)) === subject.label);
  const wide = new Set(shapesOf(watchedGroups(reported), shaping).wide.map(({ name }) => name));
  const large = reported.filter(one => wide.has(groupOf(one)));
  return subject.of === 'account' ? large : large.flatMap(one => only(one, subject.checkId));
}

/** With this check alone. */
function only({ instance, status }: Reported, checkId: string): Reported[] {
  const checks = status.checks.filter(check => check.checkId === checkId);
  return checks.length === 0 ? [] : [{ instance, status: { ...status, checks } }];
}

/** But for those that a run has suppressed. */
async function whomItIsAbout(subject: Subject, among: readonly Reported[]): Promise<readonly Reported[]> {
  const all = among.filter(one => isAbout(subject, one));
  const suppressed = all.filter(({ status }) => status.status === 'suppressed');
  const records = await findInstances(suppressed.map(({ instance }) => instance.id));
  const isClaimed = ({ instance }: Reported) => (records.get(instance.id)?.claims.size ?? 0) > 0;
  return all.filter(one => !(suppressed.includes(one) && isClaimed(one)));
}

const fails = ({ status }: Reported): boolean => status.checks.some(check => check.status === 'failed');

function isAbout(subject: Subject, one: Reported): boolean {
  const { status } = one;
  if (subject.of === 'check') return fails(one);
  switch (subject.what) {
    case 'failing-under-suppression':
      return fails(one) && status.status === 'suppressed';
    case 'check-silent':
      return status.checks.some(check => check.status !== 'passed' && check.status !== 'failed');
    default:
      return fails(one) && status.status !== 'suppressed';
  }
}

interface Told {
  readonly about: readonly Reported[];
  readonly subject: Subject;
  readonly among: readonly Reported[];
}

async function tell(change: AlarmChange, { subject, about, among }: Told): Promise<void> {
  const { alarm, state, reason, at } = change;
  // Those that are well stay in: by them the diagnosis knows how far it reaches.
  const diagnosed = among.filter(one => about.includes(one) || !fails(one));
  const checks = await applicationStatusChecks([
    ...new Set(diagnosed.flatMap(({ status }) => status.checks.map(({ checkId }) => checkId))),
  ]);
  const news = announceAlarm({
    alarm,
    state,
    reason,
    at,
    subject,
    instances: about.map(one => ({ instanceId: one.instance.id, says: sayingOf(one) })),
    diagnosis: diagnose({ instances: diagnosed.map(one => toObserved(one, checks)), groups: [] }),
  });
  const name = executionName('tell', alarm, tellingOf(change));
  await startExecution(setting('TELL_PEOPLE_ARN'), name, { alarm, news });
}

function sayingOf({ status }: Reported): string {
  const checks = status.checks.map(({ checkId, aggregation, status: said, code }) =>
    [checkId, aggregation === 'excluded' ? '(excluded)' : '', said, code ?? ''].filter(Boolean).join(' '),
  );
  const acts =
    status.status === 'suppressed' ? 'suppressed, so nobody acts on it' : `EC2 calls it ${status.status}`;
  return `${checks.join('; ')}; ${acts}`;
}

/** As if it were not suppressed: what a diagnosis excuses there is what the alarm is about. */
const toObserved = ({ instance, status }: Reported, checks: ReadonlyMap<string, CheckFacts>) => ({
  instanceId: instance.id,
  zone: instance.zone,
  suppressed: false,
  checks: status.checks.map(result => observedCheck(result, instance.launchedAt, checks.get(result.checkId))),
  targets: [],
});

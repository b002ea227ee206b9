import type { AlarmSubject, GroupAlarm } from './alarm-names.ts';
import { type Announcement, CAUSE_LENGTH, cut, instant, SUBJECT_LENGTH } from './announcement.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Of which metric an alarm speaks: the aggregate, by which Auto Scaling acts, or the checks' own, which no suppression silences. */
export type Track = 'aggregate' | 'check' | 'both';

export interface AlarmNews {
  readonly alarm: string;
  readonly subject: Exclude<AlarmSubject, { of: 'instance' }>;
  readonly state: 'ALARM' | 'OK';
  /** CloudWatch's own sentence. */
  readonly reason: string;
  /** Seconds since the epoch. */
  readonly at: number;
  /** Those that it is about, with what each check says of them; empty when it is over. */
  readonly instances: readonly { readonly instanceId: string; readonly says: string }[];
  readonly diagnosis: Diagnosis;
}

export interface AlarmDetail {
  readonly alarm: string;
  readonly state: 'ALARM' | 'OK';
  readonly track: Track;
  /** The first hundred; `instances` is how many there are. */
  readonly instanceIds: readonly string[];
  readonly instances: number;
  readonly findings: readonly string[];
  readonly at: string;
}

const LISTED = 100;

const TRACKS: Readonly<Record<Track, string>> = {
  aggregate:
    'It speaks of the aggregate metric, StatusCheckFailed_Application: Auto Scaling acts by the same status. It is silent while an instance is suppressed.',
  check:
    "It speaks of each check's own metric, StatusCheckFailed_Application_ID, which no suppression silences.",
  both: "It speaks of both: the check's own metric says that it fails, and the aggregate metric is silent because of a suppression.",
};

const OF_GROUP: Readonly<Record<GroupAlarm, readonly [track: Track, said: string, means: string]>> = {
  'failing-and-acted-upon': [
    'aggregate',
    'fails its checks, and Auto Scaling replaces',
    'Auto Scaling replaces these instances, about three minutes after EC2 calls them impaired, unless a process of the group is suspended.',
  ],
  'failing-under-suppression': [
    'both',
    'fails its checks while suppressed',
    'Nobody replaces these instances while they are suppressed. Look at the deployment that goes on there: quiesce status',
  ],
  'check-silent': [
    'check',
    'has a check that says nothing',
    'What the check says of these instances is not known: nobody acts on a failure there. Look whether its association, its interface, or a quota is gone: quiesce alarms',
  ],
  failing: [
    'check',
    'is well again',
    'No instance there fails an included check any more, suppressed or not.',
  ],
};

export function announceAlarm(news: AlarmNews): Announcement<AlarmDetail> {
  const { alarm, subject, state, reason, at, instances, diagnosis } = news;
  const [track, said, means] = wordsOf(subject, state);
  const findings = diagnosis.findings.map(({ summary }) => summary);
  const shown = instances.slice(0, LISTED);
  return {
    subject: cut(`Quiesce: ${whereOf(subject)} ${said}`, SUBJECT_LENGTH),
    message: [
      `The alarm ${alarm} is in ${state} since ${instant(at)}. ${means}`,
      TRACKS[track],
      ...(instances.length > 0 ? [''] : []),
      ...diagnosis.findings.flatMap(({ summary, evidence }) => [
        summary,
        ...evidence.map(line => `  ${line}`),
      ]),
      ...shown.map(({ instanceId, says }) => `  ${instanceId}: ${says}`),
      ...(instances.length > shown.length ? [`  and ${instances.length - shown.length} more`] : []),
      '',
      `CloudWatch says: ${cut(reason, CAUSE_LENGTH)}`,
      'What it means, and what to do: docs/alarms.md',
    ].join('\n'),
    detailType: state === 'ALARM' ? 'Quiesce Alarm' : 'Quiesce Alarm Over',
    detail: {
      alarm,
      state,
      track,
      instanceIds: shown.map(({ instanceId }) => instanceId),
      instances: instances.length,
      findings,
      at: instant(at),
    },
  };
}

function whereOf(subject: AlarmNews['subject']): string {
  switch (subject.of) {
    case 'group':
      return subject.label;
    case 'check':
      return `check ${subject.checkId}`;
    case 'account':
      return 'a large group';
  }
}

function wordsOf(
  subject: AlarmNews['subject'],
  state: AlarmNews['state'],
): readonly [track: Track, said: string, means: string] {
  if (subject.of === 'group') return OF_GROUP[subject.what];
  if (subject.of === 'account') return OF_GROUP['failing-and-acted-upon'];
  return state === 'ALARM'
    ? ['check', 'fails', 'Whether Auto Scaling acts on it is said of each instance below.']
    : ['check', 'is passed again', 'An instance that failed it passes it again.'];
}

import { aws } from './aws-cli.ts';
import { LedgerByHand } from './by-hand-ledger.ts';
import type { Member, Membership } from './fleet.ts';
import type { Plan } from './plan.ts';
import { leaveSuppression } from './suppression.ts';

/** What the ledger, and a look at what runs, say of a run that a person closes without Quiesce. */
export interface HandledRun {
  readonly runId: string;
  readonly status: 'live' | 'ended';
  readonly plan: Pick<Plan, 'groups' | 'holdings'>;
  /** The executions that still run for it. */
  readonly running: readonly string[];
  readonly instances: readonly HandledInstance[];
  readonly holds: readonly {
    readonly group: string;
    readonly runs: readonly string[];
    readonly suspended: readonly string[];
  }[];
  /** The runs that have targets out of a group, by the group's ARN. */
  readonly outByGroup: ReadonlyMap<string, Iterable<string>>;
  /** Instances that Auto Scaling shows in Standby. */
  readonly inStandby: ReadonlySet<string>;
}

export interface HandledInstance {
  readonly instanceId: string;
  readonly claims: ReadonlyMap<
    string,
    { readonly member: Member; readonly until: number; readonly fate?: { readonly how: string } }
  >;
  readonly traffic?: string;
  readonly memberships: readonly Membership[];
}

/** Something that a person does, and the calls of the AWS CLI that do it: the words of each, without a shell's quotes. */
export interface HandStep {
  readonly say: string;
  readonly commands: readonly (readonly string[])[];
}

export interface ByHand {
  readonly steps: readonly HandStep[];
  /** What is left can be told only when these steps are done: acts that were in flight may still have written something. */
  readonly askAgain: boolean;
}

/** The numbers that a batch may have; limits.ts has their sources. */
export interface HandLimits {
  readonly targets: number;
  readonly suppressions: number;
  readonly standby: number;
}

/**
 * The calls that close a run's bracket from exactly where it is, with nothing of Quiesce running: its undo, for a person. The
 * order is the undo's: nothing is left that an earlier step did not give back first.
 *
 * @param table the ledger's table
 * @param now seconds since the epoch: what is left of somebody else's suppression is counted from then
 */
export function closeByHand(run: HandledRun, table: string, limits: HandLimits, now: number): ByHand {
  const ledger = new LedgerByHand(table, run.runId);
  if (run.running.length > 0 || run.status === 'live')
    return {
      steps: some([
        { say: 'Stop what still runs for it.', commands: run.running.map(stopExecution) },
        { say: 'End the run: no act of it starts after this.', commands: [ledger.endRun(now)] },
        {
          say: 'Wait 65 s: a function that is running goes on until its own time-out of 60 s.',
          commands: [],
        },
      ]),
      askAgain: true,
    };
  const ours = run.instances.filter(({ claims, traffic }) => claims.has(run.runId) || traffic === run.runId);
  const claims = ours.flatMap(({ instanceId, claims }) => {
    const claim = claims.get(run.runId);
    return claim ? [{ instanceId, ...claim }] : [];
  });
  // Auto Scaling is just replacing these.
  const kept = claims.filter(({ fate }) => fate?.how !== 'handed-over').map(({ member }) => member);
  const registrations = registrationsOf(run, ours, limits);
  return {
    steps: some([
      { say: 'Bring them back from Standby.', commands: exitStandby(run, kept, limits) },
      { say: 'Put every target back, exactly as it was listed.', commands: registrations },
      ...(registrations.length > 0 || run.holds.length > 0
        ? [
            {
              say: 'Wait until these targets are healthy: what resumes next acts on what is not.',
              commands: [],
            },
          ]
        : []),
      { say: 'Resume the processes that were suspended for it.', commands: resume(run, kept) },
      {
        say: 'Release the suppression that no other run needs; what somebody else had set gets what was left of it now.',
        commands: release(run, ours, limits, now),
      },
      { say: 'Take its claims out of the ledger.', commands: ledger.forget(run, ours) },
    ]),
    askAgain: false,
  };
}

const some = (steps: readonly HandStep[]): readonly HandStep[] =>
  steps.filter(({ say, commands }) => commands.length > 0 || say.startsWith('Wait'));

const stopExecution = (arn: string) =>
  aws('stepfunctions', 'stop-execution', {
    'execution-arn': arn,
    error: 'UndoneByHand',
    cause: 'Its bracket is closed by hand.',
  });

const batches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

const exitStandby = (
  { plan, inStandby }: HandledRun,
  members: readonly Member[],
  limits: HandLimits,
): HandStep['commands'] =>
  plan.holdings
    .filter(({ mode }) => mode === 'standby')
    .flatMap(({ group }) => {
      const ids = members
        .filter(({ autoScalingGroup, instanceId }) => autoScalingGroup === group && inStandby.has(instanceId))
        .map(({ instanceId }) => instanceId);
      return batches(ids, limits.standby).map(some =>
        aws('autoscaling', 'exit-standby', { 'auto-scaling-group-name': group, 'instance-ids': some }),
      );
    });

function registrationsOf(
  { runId, plan }: HandledRun,
  instances: readonly HandledInstance[],
  limits: HandLimits,
): HandStep['commands'] {
  const recorded = instances
    .filter(({ traffic, claims }) => traffic === runId && claims.get(runId)?.fate?.how !== 'handed-over')
    .flatMap(({ memberships }) => memberships);
  return plan.groups.flatMap(({ arn, targetType }) => {
    const targets = recorded
      .filter(({ targetGroupArn }) => targetGroupArn === arn)
      .map(({ target }) => target);
    return batches(targets, limits.targets).map(some =>
      aws('elbv2', 'register-targets', {
        'target-group-arn': arn,
        targets: some.map(({ id, port, availabilityZone, quicServerId }) =>
          [
            `Id=${id}`,
            ...(port === undefined ? [] : [`Port=${port}`]),
            // D27: an instance has the zone that it has.
            ...(availabilityZone === undefined || targetType === 'instance'
              ? []
              : [`AvailabilityZone=${availabilityZone}`]),
            ...(quicServerId === undefined ? [] : [`QuicServerId=${quicServerId}`]),
          ].join(','),
        ),
      }),
    );
  });
}

/** Only the last run that holds a group resumes it, and a mark of Unhealthy is acted on as soon as it does (D4). */
function resume({ runId, holds }: HandledRun, members: readonly Member[]): HandStep['commands'] {
  return holds
    .filter(({ runs }) => runs.length === 1 && runs[0] === runId)
    .flatMap(({ group, suspended }) => [
      ...members
        .filter(({ autoScalingGroup }) => autoScalingGroup === group)
        .map(({ instanceId }) => [
          ...aws('autoscaling', 'set-instance-health', {
            'instance-id': instanceId,
            'health-status': 'Healthy',
          }),
          '--no-should-respect-grace-period',
        ]),
      ...(suspended.length > 0
        ? [
            aws('autoscaling', 'resume-processes', {
              'auto-scaling-group-name': group,
              'scaling-processes': suspended,
            }),
          ]
        : []),
    ]);
}

function release(
  { runId }: HandledRun,
  instances: readonly HandledInstance[],
  limits: HandLimits,
  now: number,
): HandStep['commands'] {
  const disable: string[] = [];
  const restore = new Map<number, string[]>();
  for (const { instanceId, claims } of instances) {
    const claim = claims.get(runId);
    if (!claim || [...claims].some(([other, { until }]) => other !== runId && until > now)) continue;
    const leaving = leaveSuppression(claim.member, claim.until, now);
    if (leaving.how === 'disable') disable.push(instanceId);
    if (leaving.how === 'restore')
      restore.set(leaving.until, [...(restore.get(leaving.until) ?? []), instanceId]);
  }
  return [
    ...batches(disable, limits.suppressions).map(ids =>
      aws('ec2', 'disable-application-status-check-suppression', { 'instance-ids': ids }),
    ),
    ...[...restore].flatMap(([until, ids]) =>
      batches(ids, limits.suppressions).map(some =>
        aws('ec2', 'enable-application-status-check-suppression', {
          'instance-ids': some,
          'duration-seconds': String(until - now),
        }),
      ),
    ),
  ];
}

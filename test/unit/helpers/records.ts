import { adoptionRequest } from '../../../functions/core/adoption-request.ts';
import type { Membership } from '../../../functions/core/domain/fleet.ts';
import type { Plan } from '../../../functions/core/domain/plan.ts';
import type { Claim, RunRecord } from '../../../functions/core/ledger/items.ts';
import { readRequest, runRequest } from '../../../functions/core/request.ts';
import { NOW } from './ledger.ts';

export const GROUP = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef';

export const membershipOf = (instanceId: string, port = 8080): Membership => ({
  targetGroupArn: GROUP,
  target: { id: instanceId, port },
});

/** A claim of an instance with one check and, unless told otherwise, one membership. */
export const claimOf = (
  instanceId: string,
  memberships: readonly Membership[] = [membershipOf(instanceId)],
  until = 2_000_000_000,
): Claim => ({
  until,
  member: {
    instanceId,
    zone: 'eu-west-1a',
    addresses: [],
    includedChecks: ['asc-1'],
    excludedChecks: [],
    suppression: 'ours',
    memberships,
  },
});

export const requestOf = (runId: string, some: object = {}) =>
  readRequest(runRequest, { runId, fleet: { instanceIds: ['i-0123456789abcdef0'] }, ...some });

export const planOf = (instanceIds: readonly string[], some: Partial<Plan> = {}): Plan => ({
  instanceIds,
  bystanders: [],
  groups: [
    {
      arn: GROUP,
      name: 'web',
      targetType: 'instance',
      deregistrationDelaySeconds: 300,
      slowStartSeconds: 0,
      inServiceSeconds: 155,
      serves: true,
      floor: {
        crossZone: true,
        minHealthyPercent: 50,
        minHealthyCount: 1,
        minHealthyShareOfRegistered: 0,
      },
    },
  ],
  holdings: [],
  budgets: {
    lead: 600,
    traffic: 1260,
    before: 1320,
    deployment: 3600,
    ready: 900,
    inService: 900,
    readyAgain: 1200,
    release: 450,
    after: 3450,
    undo: 1775,
    whole: 8370,
  },
  suppressing: instanceIds.length,
  draining: instanceIds.length,
  suppressUntil: 2_000_000_000,
  remarks: [],
  ...some,
});

type NewRun = Pick<RunRecord, 'runId' | 'owner' | 'request' | 'plan' | 'createdAt' | 'deadline'>;

export const newRun = (runId: string, some: Partial<NewRun> = {}): NewRun => ({
  runId,
  owner: `execution-of-${runId}`,
  request: requestOf(runId),
  plan: planOf(['i-0123456789abcdef0']),
  createdAt: 1_796_029_200,
  deadline: 1_796_032_800,
  ...some,
});

/** An adoption of a check to create by a group, as its plan writes it down. */
export const newAdoption = (group: string, owner: string) => ({
  group,
  owner,
  request: readRequest(adoptionRequest, {
    autoScalingGroupName: 'web',
    check: { protocol: 'http', port: 80 },
  }),
  plan: {
    token: 't',
    sample: ['i-1'],
    wasOnGroup: false,
    observeSeconds: 900,
    optInTagValue: 'enabled',
  },
  createdAt: NOW,
});

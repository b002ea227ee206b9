import * as client from '@aws-sdk/client-auto-scaling';
import { expect, test } from 'vitest';
import { giveHold, holdAutoScaling } from '../../functions/core/bracket/hold.ts';
import { HEALTH_PROCESSES } from '../../functions/core/domain/holding.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import type { Service } from '../../local/wire/contract.ts';
import { createLedger, inEveryOrder } from './helpers/ledger.ts';
import { newRun, planOf } from './helpers/records.ts';

/** What is suspended of the group that a call names. */
const suspended = new Map<string, Set<string>>();
const of = (group = '') => {
  const known = suspended.get(group) ?? new Set();
  suspended.set(group, known);
  return known;
};
const autoScaling: Service = {
  name: 'autoscaling',
  client,
  protocol: { kind: 'query', version: '2011-01-01' },
  operations: {
    DescribeAutoScalingGroups: ({
      AutoScalingGroupNames = [],
    }: client.DescribeAutoScalingGroupsCommandInput) => ({
      AutoScalingGroups: AutoScalingGroupNames.map(AutoScalingGroupName => ({
        AutoScalingGroupName,
        AutoScalingGroupARN: `arn:${AutoScalingGroupName}`,
        HealthCheckType: 'EC2,ELB',
        MinSize: 0,
        MaxSize: 4,
        DesiredCapacity: 2,
        DefaultCooldown: 300,
        AvailabilityZones: ['eu-west-1a'],
        CreatedTime: new Date(0),
        SuspendedProcesses: [...of(AutoScalingGroupName)].map(ProcessName => ({ ProcessName })),
      })),
    }),
    SuspendProcesses: (input: client.SuspendProcessesCommandInput) => {
      for (const process of input.ScalingProcesses ?? []) of(input.AutoScalingGroupName).add(process);
      return {};
    },
    ResumeProcesses: (input: client.ResumeProcessesCommandInput) => {
      for (const process of input.ScalingProcesses ?? []) of(input.AutoScalingGroupName).delete(process);
      return {};
    },
  },
};

const holding = (runId: string, group: string): RunRecord => ({
  ...newRun(runId, {
    plan: planOf([], {
      holdings: [{ group, mode: 'hold', processes: HEALTH_PROCESSES, targetGroupArns: [] }],
    }),
  }),
  digest: '',
  status: 'live',
  phase: 'before',
  acted: true,
  newcomers: [],
});

test('D4: a run that holds a group while the last one resumes it has it suspended, or is told to wait, in whatever order', async () => {
  const ledger = await createLedger([autoScaling]);
  let count = 0;
  let held = 0;
  const orders = await inEveryOrder(async choose => {
    const group = `web-${count++}`;
    await ledger.as(() => holdAutoScaling(holding('a', group)));
    const [busy] = await ledger.interleaved<string | undefined>(
      [() => holdAutoScaling(holding('b', group)), async () => void (await giveHold(group, 'a'))],
      choose,
    );
    if (busy === undefined) held++;
    expect([...of(group)].sort()).toEqual(busy === undefined ? [...HEALTH_PROCESSES] : []);
  });
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(orders);
});

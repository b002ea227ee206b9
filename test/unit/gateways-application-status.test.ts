// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  DescribeApplicationStatusChecksCommandInput,
  DescribeApplicationStatusCommandInput,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { applicationStatusChecks, applicationStatuses } from '../../functions/core/aws/application-status.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { knowing, names, scripted } from './helpers/scripted-account.ts';

const at = new Date('2026-11-30T09:00:00Z');

const statusOf = (InstanceId: string) => ({
  InstanceId,
  ApplicationStatus: {
    Status: 'suppressed',
    StatusSince: at,
    ResumeAt: at,
    Details: [
      {
        ApplicationStatusCheckId: 'asc-1',
        Aggregation: 'included',
        Status: 'passed',
        StatusTimeStamp: at,
        StatusSince: at,
        Reason: { Code: 'ConnectionRefused', StatusCode: 0 },
      },
      { ApplicationStatusCheckId: 'asc-2', Status: 'initializing' },
    ],
  },
});

test('application status has each check beside the overall word, and says nothing that AWS leaves out', async () => {
  const account = scripted('ec2', {
    DescribeApplicationStatus: () => ({
      ApplicationStatuses: {
        Instances: [
          statusOf('i-1'),
          { InstanceId: 'i-2', ApplicationStatus: { Status: 'not-applicable' } },
          { InstanceId: 'i-3' },
        ],
      },
    }),
  });
  const found = await account.run(() => applicationStatuses(['i-1', 'i-2', 'i-3']));
  expect(found.get('i-1')).toEqual({
    instanceId: 'i-1',
    status: 'suppressed',
    since: at,
    resumesAt: at,
    checks: [
      {
        checkId: 'asc-1',
        aggregation: 'included',
        status: 'passed',
        code: 'ConnectionRefused',
        statusCode: 0,
        evaluatedAt: at,
        since: at,
      },
      { checkId: 'asc-2', aggregation: 'unknown', status: 'initializing' },
    ],
  });
  expect(found.get('i-2')).toEqual({ instanceId: 'i-2', status: 'not-applicable', checks: [] });
  expect(found.has('i-3')).toBe(false);
});

test('an answer without the list, or without what is around it, is an empty one', async () => {
  for (const empty of [{}, { ApplicationStatuses: {} }]) {
    const account = scripted('ec2', { DescribeApplicationStatus: () => empty });
    expect(await account.run(() => applicationStatuses(['i-1']))).toEqual(new Map());
  }
});

test('R-CHUNK, R-PARTIAL: statuses come by the hundred, and an unknown instance does not hide the others', async () => {
  const account = scripted('ec2', {
    DescribeApplicationStatus: knowing<DescribeApplicationStatusCommandInput>(
      id => id !== 'i-042',
      ids => ({ ApplicationStatuses: { Instances: ids.map(statusOf) } }),
    ),
  });
  const found = await account.run(() => applicationStatuses(names('i-', 210)));
  expect(found.size).toBe(209);
  expect(found.has('i-042')).toBe(false);
  const sizes = account.asked.map(
    ({ input }) => Array.isArray(input.InstanceIds) && input.InstanceIds.length,
  );
  expect(Math.max(...sizes.map(Number))).toBe(100);
});

test('a check has the documented defaults where AWS leaves a member out, and a deleted check is none', async () => {
  const account = scripted('ec2', {
    DescribeApplicationStatusChecks: ({
      ApplicationStatusCheckIds,
    }: DescribeApplicationStatusChecksCommandInput) => {
      if (ApplicationStatusCheckIds?.includes('asc-unknown')) {
        throw new ServiceError('InvalidApplicationStatusCheckId.NotFound', 'no such check');
      }
      const all = [
        { ApplicationStatusCheckId: 'asc-bare', Port: 80, Protocol: 'http' },
        {
          ApplicationStatusCheckId: 'asc-full',
          Aggregation: 'excluded',
          Port: 8443,
          Path: '/ready',
          Protocol: 'https',
          Timeout: 10,
          Interval: 60,
          FailureThreshold: 3,
          SuccessThreshold: 4,
          InitializationGracePeriodSeconds: 90,
          StatusCodeMatcher: '200-299',
        },
        { ApplicationStatusCheckId: 'asc-deleted', Port: 80, Protocol: 'http', DeletionTime: at },
      ];
      return {
        ApplicationStatusChecks: all.filter(check =>
          ApplicationStatusCheckIds?.includes(check.ApplicationStatusCheckId),
        ),
      };
    },
  });
  const ids = ['asc-bare', 'asc-unknown', 'asc-full', 'asc-deleted'];
  const found = await account.run(() => applicationStatusChecks(ids));
  expect([...found.values()]).toEqual([
    {
      id: 'asc-bare',
      aggregation: 'included',
      port: 80,
      path: '/',
      protocol: 'http',
      timeoutSeconds: 6,
      intervalSeconds: 60,
      failureThreshold: 2,
      successThreshold: 2,
      graceSeconds: 300,
      matcher: '200',
    },
    {
      id: 'asc-full',
      aggregation: 'excluded',
      port: 8443,
      path: '/ready',
      protocol: 'https',
      timeoutSeconds: 10,
      intervalSeconds: 60,
      failureThreshold: 3,
      successThreshold: 4,
      graceSeconds: 90,
      matcher: '200-299',
    },
  ]);
});

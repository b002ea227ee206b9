import {
  type ApplicationStatusCheckResponseObject,
  type ApplicationStatusDetail,
  DescribeApplicationStatusChecksCommand,
  DescribeApplicationStatusCommand,
  type InstanceApplicationStatus,
} from '@aws-sdk/client-ec2';
import { CHECKS_PER_DESCRIBE, DESCRIBES_AT_ONCE, STATUS_INSTANCES } from '../limits.ts';
import { inChunks, isolating, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { ec2 } from './clients.ts';

/** One check's result on one instance. Neither aggregation nor suppression affects it. */
export interface CheckResult {
  readonly checkId: string;
  readonly aggregation: 'included' | 'excluded' | 'unknown';
  /** `passed`, `failed`, `initializing`, `insufficient-data` or `not-applicable`. */
  readonly status: string;
  /** The reason's Code: one of six documented words, or a legacy producer's error type. */
  readonly code?: string;
  /** On connection errors documented as absent, and measured as 0: decide by `code`. */
  readonly statusCode?: number;
  readonly evaluatedAt?: Date;
  readonly since?: Date;
}

export interface ApplicationStatusFacts {
  readonly instanceId: string;
  /** `ok`, `impaired`, `initializing`, `insufficient-data`, `not-applicable` or `suppressed`. */
  readonly status: string;
  readonly since?: Date;
  /** When suppression ends by itself; absent when it does not, and when there is none. */
  readonly resumesAt?: Date;
  readonly checks: CheckResult[];
}

/** The overall status and each check's result. An instance that AWS does not know, or reports nothing on, has no entry. */
export async function applicationStatuses(
  ids: readonly string[],
): Promise<Map<string, ApplicationStatusFacts>> {
  const found = await inChunks(ids, STATUS_INSTANCES, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, statusesOf),
  );
  return new Map(found.flatMap(({ done }) => done).map(facts => [facts.instanceId, facts]));
}

/** The same of every instance of the account and Region that has one. GUIDE (quotas): 5,000 targets. */
export const everyApplicationStatus = (): Promise<ApplicationStatusFacts[]> => statusesOf();

async function statusesOf(ids?: readonly string[]): Promise<ApplicationStatusFacts[]> {
  const action = 'ec2:DescribeApplicationStatus';
  const statuses = await pages(async next => {
    const command = new DescribeApplicationStatusCommand({
      ...(ids && { InstanceIds: [...ids] }),
      NextToken: next,
    });
    const answer = await send(action, () => ec2().send(command));
    return { items: answer.ApplicationStatuses?.Instances, next: answer.NextToken };
  });
  return statuses.flatMap(status => statusFacts(status, action));
}

function statusFacts(
  { InstanceId, ApplicationStatus }: InstanceApplicationStatus,
  action: string,
): ApplicationStatusFacts[] {
  if (ApplicationStatus?.Status === undefined) return [];
  const { Status, StatusSince, ResumeAt, Details } = ApplicationStatus;
  return [
    {
      instanceId: given(InstanceId, action, 'InstanceId'),
      status: Status,
      ...(StatusSince !== undefined && { since: StatusSince }),
      ...(ResumeAt !== undefined && { resumesAt: ResumeAt }),
      checks: (Details ?? []).map(detail => checkResult(detail, action)),
    },
  ];
}

function checkResult(detail: ApplicationStatusDetail, action: string): CheckResult {
  const { Reason, StatusTimeStamp, StatusSince } = detail;
  return {
    checkId: given(detail.ApplicationStatusCheckId, action, 'ApplicationStatusCheckId'),
    aggregation: detail.Aggregation ?? 'unknown',
    status: given(detail.Status, action, 'Status'),
    ...(Reason?.Code !== undefined && { code: Reason.Code }),
    ...(Reason?.StatusCode !== undefined && { statusCode: Reason.StatusCode }),
    ...(StatusTimeStamp !== undefined && { evaluatedAt: StatusTimeStamp }),
    ...(StatusSince !== undefined && { since: StatusSince }),
  };
}

/** How a check is set up. */
export interface CheckFacts {
  readonly id: string;
  readonly aggregation: 'included' | 'excluded';
  readonly port: number;
  readonly path: string;
  readonly protocol: 'http' | 'https';
  readonly timeoutSeconds: number;
  readonly intervalSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  /** Counted from the launch of the instance. */
  readonly graceSeconds: number;
  /** Codes and ranges that count as success, such as `200,300-399`. */
  readonly matcher: string;
  /** When it was created, or last modified. */
  readonly changedAt?: Date;
}

/** Facts on the checks that exist; unknown and deleted ones have no entry. */
export async function applicationStatusChecks(ids: readonly string[]): Promise<Map<string, CheckFacts>> {
  const found = await inChunks(ids, CHECKS_PER_DESCRIBE, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, checksOf),
  );
  return new Map(found.flatMap(({ done }) => done).map(check => [check.id, check]));
}

async function checksOf(ids: readonly string[]): Promise<CheckFacts[]> {
  const action = 'ec2:DescribeApplicationStatusChecks';
  const checks = await pages(async next => {
    const command = new DescribeApplicationStatusChecksCommand({
      ApplicationStatusCheckIds: [...ids],
      NextToken: next,
    });
    const answer = await send(action, () => ec2().send(command));
    return { items: answer.ApplicationStatusChecks, next: answer.NextToken };
  });
  return checks.filter(check => check.DeletionTime === undefined).map(check => checkFacts(check, action));
}

/** The defaults are those of CreateApplicationStatusCheck: AWS's own samples leave members out of the answer. */
function checkFacts(check: ApplicationStatusCheckResponseObject, action: string): CheckFacts {
  const changedAt = check.ModifyTime ?? check.CreationTime;
  return {
    id: given(check.ApplicationStatusCheckId, action, 'ApplicationStatusCheckId'),
    aggregation: check.Aggregation ?? 'included',
    port: given(check.Port, action, 'Port'),
    path: check.Path ?? '/',
    protocol: given(check.Protocol, action, 'Protocol'),
    timeoutSeconds: check.Timeout ?? 6,
    intervalSeconds: check.Interval ?? 60,
    failureThreshold: check.FailureThreshold ?? 2,
    successThreshold: check.SuccessThreshold ?? 2,
    graceSeconds: check.InitializationGracePeriodSeconds ?? 300,
    matcher: check.StatusCodeMatcher ?? '200',
    ...(changedAt !== undefined && { changedAt }),
  };
}

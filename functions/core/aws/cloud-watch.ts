import {
  GetMetricDataCommand,
  type MetricDataQuery,
  type MetricDataResult,
} from '@aws-sdk/client-cloudwatch';
import type { RequestCounts, Requests } from '../domain/observed-fleet.ts';
import { METRIC_QUERIES } from '../limits.ts';
import { inChunks, pages } from './batch.ts';
import { send } from './call.ts';
import { cloudWatch } from './clients.ts';

/** A target group behind an Application Load Balancer. */
export interface CountedGroup {
  readonly arn: string;
  readonly loadBalancerArn: string;
  /** Does the load balancer have no other? Then its own 5xx answers are this group's. */
  readonly alone: boolean;
}

/** AWS publishes a minute's metric within two (UG, "CloudWatch metrics for your Application Load Balancer"): so many are looked at. */
const MINUTES = 5;

/** What is usual: long enough to have more requests, and short enough to be of the same hour. Ours. */
const MINUTES_BEFORE = 10;

const SENT = 'RequestCount';
const FAILED = ['HTTPCode_Target_5XX_Count', 'HTTPCode_ELB_5XX_Count'] as const;

/** What the load balancers counted in the last minutes, by target group. A group without requests has nought of each. */
export async function requestCounts(
  groups: readonly CountedGroup[],
  now: number,
): Promise<ReadonlyMap<string, RequestCounts>> {
  const queries = groups.flatMap((group, place) => queriesOf(group, `g${place}`));
  const end = Math.floor(now / 60) * 60;
  const found = await inChunks(queries, METRIC_QUERIES, 1, chunk =>
    pages(async next => {
      const command = new GetMetricDataCommand({
        MetricDataQueries: chunk,
        StartTime: new Date((end - (MINUTES + MINUTES_BEFORE) * 60) * 1000),
        EndTime: new Date(end * 1000),
        NextToken: next,
      });
      const answer = await send('cloudwatch:GetMetricData', () => cloudWatch().send(command));
      return { items: answer.MetricDataResults, next: answer.NextToken };
    }),
  );
  const results = Map.groupBy(found.flat(), ({ Id }) => Id ?? '');
  const begin = (end - MINUTES * 60) * 1000;
  return new Map(
    groups.map(({ arn }, place) => {
      const counted = (isOf: (at: number) => boolean, minutes: number): Requests => ({
        sent: sumOf(results.get(`g${place}`), isOf),
        failed: FAILED.reduce((sum, _, which) => sum + sumOf(results.get(`g${place}_${which}`), isOf), 0),
        minutes,
      });
      const before = counted(at => at < begin, MINUTES_BEFORE);
      return [arn, { ...counted(at => at >= begin, MINUTES), before }];
    }),
  );
}

/** Of the minutes that `isOf` lets through; milliseconds since the epoch. */
function sumOf(results: readonly MetricDataResult[] = [], isOf: (at: number) => boolean): number {
  let sum = 0;
  for (const { Timestamps = [], Values = [] } of results)
    for (const [place, at] of Timestamps.entries()) if (isOf(at.getTime())) sum += Values[place] ?? 0;
  return sum;
}

function queriesOf({ arn, loadBalancerArn, alone }: CountedGroup, id: string): MetricDataQuery[] {
  const LoadBalancer = loadBalancerArn.slice(loadBalancerArn.indexOf('/') + 1);
  const TargetGroup = arn.slice(arn.lastIndexOf(':') + 1);
  const [byTargets, byLoadBalancer] = FAILED;
  return [
    sumQuery(id, SENT, { LoadBalancer, TargetGroup }),
    sumQuery(`${id}_0`, byTargets, { LoadBalancer, TargetGroup }),
    ...(alone ? [sumQuery(`${id}_1`, byLoadBalancer, { LoadBalancer })] : []),
  ];
}

const sumQuery = (
  Id: string,
  MetricName: string,
  dimensions: Readonly<Record<string, string>>,
): MetricDataQuery => ({
  Id,
  MetricStat: {
    Stat: 'Sum',
    Period: 60,
    Metric: {
      Namespace: 'AWS/ApplicationELB',
      MetricName,
      Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
    },
  },
});

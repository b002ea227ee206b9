import {
  GetMetricDataCommand,
  type MetricDataQuery,
  type MetricDataResult,
} from '@aws-sdk/client-cloudwatch';
import type { RequestMinute } from '../domain/requests.ts';
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

/** Long enough for what was usual before most drains; a longer look costs no more. Ours. */
const MINUTES = 30;

const SENT = 'RequestCount';
const FAILED = ['HTTPCode_Target_5XX_Count', 'HTTPCode_ELB_5XX_Count'] as const;

/** What the load balancers counted in the last half an hour, by target group and minute; only minutes that had something. */
export async function requestCounts(
  groups: readonly CountedGroup[],
  now: number,
): Promise<ReadonlyMap<string, readonly RequestMinute[]>> {
  const queries = groups.flatMap((group, place) => queriesOf(group, `g${place}`));
  const end = Math.floor(now / 60) * 60;
  const found = await inChunks(queries, METRIC_QUERIES, 1, chunk =>
    pages(async next => {
      const command = new GetMetricDataCommand({
        MetricDataQueries: chunk,
        StartTime: new Date((end - MINUTES * 60) * 1000),
        EndTime: new Date(end * 1000),
        NextToken: next,
      });
      const answer = await send('cloudwatch:GetMetricData', () => cloudWatch().send(command));
      return { items: answer.MetricDataResults, next: answer.NextToken };
    }),
  );
  const results = Map.groupBy(found.flat(), ({ Id }) => Id ?? '');
  return new Map(
    groups.map(({ arn }, place) => {
      const sent = valuesOf(results.get(`g${place}`));
      const failed = FAILED.flatMap((_, which) => valuesOf(results.get(`g${place}_${which}`)));
      return [
        arn,
        [
          ...sent.map(([at, value]) => ({ at, sent: value, failed: 0 })),
          ...failed.map(([at, value]) => ({ at, sent: 0, failed: value })),
        ],
      ];
    }),
  );
}

const valuesOf = (results: readonly MetricDataResult[] = []): readonly (readonly [number, number])[] =>
  results.flatMap(({ Timestamps = [], Values = [] }) =>
    Values.flatMap((value, place) => {
      const at = Timestamps[place]?.getTime();
      return at === undefined ? [] : [[at, value] as const];
    }),
  );

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

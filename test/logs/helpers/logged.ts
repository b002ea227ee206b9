import type { LoadBalancer } from '../../../local/account/target-groups.ts';
import type { Json } from '../../../local/stack/json.ts';
import {
  type Bracket,
  type BracketSettings,
  bracket,
  type Fleet,
  usual,
} from '../../machine/helpers/bracket.ts';

/** The bucket that template.yaml listens to unless it is told of another. */
export const BUCKET = 'quiesce-logs-111122223333-eu-west-1';

const POLICY = {
  Statement: {
    Effect: 'Allow',
    Principal: { Service: 'logdelivery.elasticloadbalancing.amazonaws.com' },
    Action: 's3:PutObject',
    Resource: `arn:aws:s3:::${BUCKET}/AWSLogs/111122223333/*`,
  },
};

/** Nobody replaces an instance of it. */
export const unwatched: Fleet = { ...usual, autoScaling: null, checks: [] };

/** A fleet behind a load balancer whose nodes write health check logs, with Quiesce beside it; half a period has passed. */
export async function logged(fleet: Fleet = unwatched, settings: BracketSettings = {}) {
  const run = await bracket(fleet, settings);
  const { storage, loadBalancing } = run.standing.account;
  const bucket = storage.createBucket(BUCKET);
  bucket.policy = JSON.stringify(POLICY);
  bucket.notifications = { EventBridgeConfiguration: {} };
  const [loadBalancer] = loadBalancing.loadBalancers();
  if (!loadBalancer) throw new Error('the fleet has no load balancer');
  enable(run, loadBalancer);
  const now = run.clock.now();
  await run.clock.pass(300_000 - (now % 300_000) + 150_000);
  const period = async () => run.clock.pass(300_000);
  return { run, bucket, storage, period, fleet: run.standing.fleet.instances };
}

function enable({ standing }: Bracket, loadBalancer: LoadBalancer): void {
  standing.account.loadBalancing.changeLoadBalancer(loadBalancer, [
    ['health_check_logs.s3.enabled', 'true'],
    ['health_check_logs.s3.bucket', BUCKET],
  ]);
}

export interface Said {
  readonly event: string;
  readonly [member: string]: Json;
}

/** The log lines of the function, without those in embedded metric format. */
export const said = ({ stack }: Bracket): readonly Said[] =>
  linesOf(stack).filter(line => typeof line.event === 'string');

export interface Datum {
  readonly metric: string;
  readonly value: Json;
  readonly target_group?: string;
  readonly az?: string;
  readonly node_az?: string;
  readonly reason?: string;
  readonly kind?: string;
}

/** What the function has measured, a datum a metric and line. */
export const measured = ({ stack }: Bracket): readonly Datum[] =>
  linesOf(stack)
    .filter(line => '_aws' in line)
    .flatMap(({ _aws: _, service: __, ...line }) => {
      const { target_group, az, node_az, reason, kind, ...values } = line;
      const dimensions = Object.entries({ target_group, az, node_az, reason, kind }).filter(
        ([, value]) => value !== undefined,
      );
      return Object.entries(values)
        .filter(([name]) => name.startsWith('health_check_'))
        .map(([metric, value]) => ({ metric, value, ...Object.fromEntries(dimensions) }));
    });

/** The sum of a metric's values that have these dimensions. */
export const sumOf = (run: Bracket, wanted: Omit<Datum, 'value'>): number =>
  measured(run)
    .filter(datum => Object.entries(wanted).every(([name, value]) => Reflect.get(datum, name) === value))
    .flatMap(({ value }) => value)
    .reduce<number>((sum, value) => sum + Number(value), 0);

const linesOf = ({ lambda }: Bracket['stack']): readonly Said[] =>
  lambda.logs
    .filter(line => line.function === 'ReadHealthCheckLogFunction')
    .map(({ line }) => JSON.parse(line));

import { type Call, type Gate, ServiceError } from '../wire/contract.ts';
import { type BucketSize, TokenBucket } from './token-bucket.ts';
import type { World } from './world.ts';

/** The buckets that AWS publishes. Auto Scaling's and CodeDeploy's it does not. */
export interface PublishedBuckets {
  /** EC2: each API has a bucket of its own, as large as its kind's. */
  readonly ec2: Readonly<
    Record<
      'nonMutating' | 'unfiltered' | 'mutating' | 'createTags' | 'describeSecurityGroupReferences',
      BucketSize
    >
  >;
  /** Elastic Load Balancing: `all` for every action of the account, and inside it one for each kind of action. */
  readonly elasticLoadBalancing: Readonly<Record<'all' | 'nonMutating' | 'targets' | 'mutating', BucketSize>>;
}

type Input = Readonly<Record<string, unknown>>;

interface Draw {
  readonly bucket: string;
  readonly size: BucketSize;
}

/**
 * Throttles calls as AWS does, by token buckets. A call that finds one of its buckets empty is refused and draws from none.
 * A gate, so an account has it only when it is put before the account's services.
 */
export class Throttling implements Gate {
  /** Every call that was refused. */
  readonly throttled: Call[] = [];
  readonly #clock: World['clock'];
  readonly #published: PublishedBuckets;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor({ clock }: Pick<World, 'clock'>, published: PublishedBuckets) {
    this.#clock = clock;
    this.#published = published;
  }

  /** @throws ServiceError RequestLimitExceeded (EC2), Throttling (Elastic Load Balancing) */
  before(call: Call, input: Input): void {
    const now = this.#clock.now();
    const buckets = this.#drawsOf(call, input).map(draw => this.#bucket(draw));
    if (buckets.every(bucket => bucket.has(now))) {
      for (const bucket of buckets) bucket.take(now);
      return;
    }
    this.throttled.push(call);
    if (call.service === 'ec2')
      throw new ServiceError('RequestLimitExceeded', 'Request limit exceeded.', 503);
    throw new ServiceError('Throttling', 'Rate exceeded');
  }

  /** By bucket: the fewest tokens that were ever left, as a share of its capacity. */
  leastLeft(): ReadonlyMap<string, number> {
    return new Map([...this.#buckets].map(([name, bucket]) => [name, bucket.leastLeft]));
  }

  #drawsOf({ service, action }: Call, input: Input): readonly Draw[] {
    if (service === 'ec2')
      return [{ bucket: `ec2 ${action}`, size: this.#published.ec2[ec2Kind(action, input)] }];
    if (service !== 'elasticloadbalancing') return [];
    const kind = loadBalancingKind(action);
    const { elasticLoadBalancing } = this.#published;
    return [
      { bucket: `${service} all`, size: elasticLoadBalancing.all },
      { bucket: `${service} ${kind}`, size: elasticLoadBalancing[kind] },
    ];
  }

  #bucket({ bucket, size }: Draw): TokenBucket {
    const known = this.#buckets.get(bucket);
    if (known) return known;
    const full = new TokenBucket(size);
    this.#buckets.set(bucket, full);
    return full;
  }
}

const READS = /^(Describe|Get|List|Search)/;

/** These have a smaller bucket when the request has neither a filter nor pages. */
const COSTLY_UNFILTERED = new Set([
  'DescribeInstances',
  'DescribeInstanceStatus',
  'DescribeNetworkInterfaces',
  'DescribeSecurityGroups',
]);

function ec2Kind(action: string, input: Input): keyof PublishedBuckets['ec2'] {
  if (action === 'CreateTags') return 'createTags';
  if (action === 'DescribeSecurityGroupReferences') return 'describeSecurityGroupReferences';
  if (!READS.test(action)) return 'mutating';
  const narrowed = input.Filters !== undefined || input.MaxResults !== undefined;
  return COSTLY_UNFILTERED.has(action) && !narrowed ? 'unfiltered' : 'nonMutating';
}

function loadBalancingKind(action: string): 'nonMutating' | 'targets' | 'mutating' {
  if (READS.test(action)) return 'nonMutating';
  return action === 'RegisterTargets' || action === 'DeregisterTargets' ? 'targets' : 'mutating';
}

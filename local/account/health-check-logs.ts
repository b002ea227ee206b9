import { gzipSync } from 'node:zlib';
import { ServiceError } from '../wire/contract.ts';
import type { Instances, LogBuckets, ServiceInterfaces } from './neighbours.ts';
import { instanceBehind, type LoadBalancer, type LogDestination } from './target-groups.ts';
import type { Probed } from './target-health.ts';
import type { World } from './world.ts';

/** UG, "Health check log files": a file a node, five minutes long. */
const PERIOD_MS = 300_000;

/** UG, "Enable health check logs": who writes them. */
const PRINCIPAL = 'logdelivery.elasticloadbalancing.amazonaws.com';

/** The log that an Application Load Balancer's nodes, one a zone, keep of their health checks. */
export class HealthCheckLogs {
  readonly #world: World;
  readonly #instances: Instances;
  readonly #buckets: LogBuckets | undefined;
  readonly #interfaces: ServiceInterfaces | undefined;
  /** The private addresses of the nodes, by their zones. */
  readonly #addresses = new Map<LoadBalancer, Map<string, string>>();
  /** The lines of the running period, by the node's zone. */
  readonly #lines = new Map<LoadBalancer, Map<string, string[]>>();

  constructor(
    world: World,
    instances: Instances,
    buckets: LogBuckets | undefined,
    interfaces: ServiceInterfaces | undefined,
  ) {
    this.#world = world;
    this.#interfaces = interfaces;
    this.#instances = instances;
    this.#buckets = buckets;
  }

  /** Writes a test file, and files from then on. @throws ServiceError InvalidConfigurationRequest */
  begin(loadBalancer: LoadBalancer, destination: LogDestination): void {
    const refusal = this.#deliver(destination, 'ELBHealthCheckLogTestFile', new Uint8Array());
    if (refusal)
      throw new ServiceError(
        'InvalidConfigurationRequest',
        `Access Denied for bucket: ${destination.bucket}. Please check S3bucket permission`,
      );
    loadBalancer.healthCheckLogs = destination;
    if (this.#lines.has(loadBalancer)) return;
    this.#lines.set(loadBalancer, new Map());
    this.#addresses.set(loadBalancer, this.#nodesOf(loadBalancer));
    const { clock } = this.#world;
    clock.every(PERIOD_MS, () => this.#end(loadBalancer), PERIOD_MS - (clock.now() % PERIOD_MS));
  }

  /** A node has had its interface all along; here it has it from when somebody may ask for its address. */
  #nodesOf({ zones, arn, securityGroupIds: groupIds }: LoadBalancer): Map<string, string> {
    const description = `ELB ${arn.split(':loadbalancer/')[1]}`;
    return new Map(
      zones.map(({ zone, subnetId }, index) => [
        zone,
        (subnetId &&
          this.#interfaces?.addRequested({ subnetId, groupIds, description, requesterId: 'amazon-elb' })) ??
          `10.0.${index}.200`,
      ]),
    );
  }

  note({ group, zone, target, result, at }: Probed): void {
    const lines = group.loadBalancer?.healthCheckLogs && this.#lines.get(group.loadBalancer);
    if (!lines) return;
    const { port } = group.healthCheck;
    const address = instanceBehind(this.#instances, group, target.id)?.privateAddresses[0] ?? target.id;
    const fields = [
      group.protocol.toLowerCase(),
      new Date(at).toISOString().replace('Z', '000Z'),
      (result.tookMs / 1000).toFixed(9),
      `${address}:${port === 'traffic-port' ? target.port : port}`,
      group.name,
      result.failure ? 'FAIL' : 'PASS',
      result.status ?? '-',
      result.failure ? reasonOf(result) : '-',
    ];
    const ofNode = lines.get(zone);
    if (ofNode) ofNode.push(fields.join(' '));
    else lines.set(zone, [fields.join(' ')]);
  }

  #end(loadBalancer: LoadBalancer): void {
    const lines = this.#lines.get(loadBalancer);
    const destination = loadBalancer.healthCheckLogs;
    for (const [zone, written] of destination && lines ? lines : [])
      this.#write(loadBalancer, destination, zone, written);
    lines?.clear();
  }

  #write(
    loadBalancer: LoadBalancer,
    destination: LogDestination | undefined,
    zone: string,
    lines: readonly string[],
  ): void {
    const { clock, region, accountId, random } = this.#world;
    const end = new Date(clock.now()).toISOString();
    const id = loadBalancer.arn.split(':loadbalancer/')[1]?.replaceAll('/', '.');
    const own = random.fork(`log of ${loadBalancer.arn} in ${zone} until ${end}`);
    const suffix = Array.from({ length: 8 }, () => own.whole(0, 35).toString(36)).join('');
    const name = [
      `health_check_log_${accountId}`,
      'elasticloadbalancing',
      region,
      id,
      end.slice(0, 16).replaceAll(/[-:]/g, '').concat('Z'),
      this.#addresses.get(loadBalancer)?.get(zone),
      `${suffix}.log.gz`,
    ].join('_');
    const folder = `elasticloadbalancing/${region}/${end.slice(0, 10).replaceAll('-', '/')}`;
    if (destination) this.#deliver(destination, `${folder}/${name}`, gzipSync(`${lines.join('\n')}\n`));
  }

  /** AWS tells nobody when a bucket that it could write to no longer lets it in. @returns the refusal */
  #deliver({ bucket, prefix }: LogDestination, name: string, bytes: Uint8Array): ServiceError | undefined {
    const key = `${prefix === '' ? '' : `${prefix}/`}AWSLogs/${this.#world.accountId}/${name}`;
    if (!this.#buckets) return new ServiceError('NoSuchBucket', 'this account has no S3');
    try {
      this.#buckets.deliver({ bucket, key, bytes, principal: PRINCIPAL });
      return undefined;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  }
}

/** INF: that a refused connection is told as a reset one; the guide has no reason of its own for it. */
function reasonOf({ failure, status }: Probed['result']): string {
  if (failure?.reason === 'Target.Timeout') return 'TimedOut';
  if (status === undefined) return 'ConnectionReset';
  return status >= 500 ? 'TargetError' : 'ResponseCodeMismatch';
}

import { ServiceError } from '../wire/contract.ts';
import type { LoadBalancerType, TargetType } from './target-groups.ts';

/** What a target group's attributes mean for health, routing and draining. Thresholds that are `off` are 0. */
export interface TargetGroupSettings {
  readonly deregistrationDelaySeconds: number;
  /** Undefined where the load balancer decides. */
  readonly crossZone: boolean | undefined;
  readonly slowStartSeconds: number;
  readonly dnsFailover: HealthyMinimum;
  readonly unhealthyStateRouting: HealthyMinimum;
  /** Are connections closed when the deregistration delay ends? */
  readonly closesAfterDelay: boolean;
  /** Are connections closed when their target turns unhealthy? */
  readonly closesWhenUnhealthy: boolean;
  /** How long such a target shows as `unhealthy.draining` where its connections are kept. */
  readonly unhealthyDrainingSeconds: number;
}

export interface HealthyMinimum {
  readonly count: number;
  readonly percentage: number;
}

interface Rule {
  readonly usual: string;
  readonly accepts: (value: string) => boolean;
  /** False where only the usual value is simulated. */
  readonly simulated?: false;
}

const whole = (least: number, most: number) => (value: string) =>
  /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most;
const oneOf =
  (...values: readonly string[]) =>
  (value: string) =>
    values.includes(value);
const either =
  (...rules: readonly ((value: string) => boolean)[]) =>
  (value: string) =>
    rules.some(accepts => accepts(value));
const boolean = oneOf('true', 'false');
const anything = () => true;

const DELAY = 'deregistration_delay.timeout_seconds';
const CROSS_ZONE = 'load_balancing.cross_zone.enabled';
const ALGORITHM = 'load_balancing.algorithm.type';
const SLOW_START = 'slow_start.duration_seconds';
const DNS_FAILOVER = 'target_group_health.dns_failover.minimum_healthy_targets';
const UNHEALTHY_ROUTING = 'target_group_health.unhealthy_state_routing.minimum_healthy_targets';
const CLOSES_AFTER_DELAY = 'deregistration_delay.connection_termination.enabled';
const CLOSES_WHEN_UNHEALTHY = 'target_health_state.unhealthy.connection_termination.enabled';
const UNHEALTHY_DRAINING = 'target_health_state.unhealthy.draining_interval_seconds';

type Rules = Readonly<Record<string, Rule>>;

// Ranges and defaults: TargetGroupAttribute in the SDK's models. 1,000 targets is the quota of a target group.
const BOTH: Rules = {
  [DELAY]: { usual: '300', accepts: whole(0, 3600) },
  'stickiness.enabled': { usual: 'false', accepts: boolean, simulated: false },
  [CROSS_ZONE]: {
    usual: 'use_load_balancer_configuration',
    accepts: oneOf('true', 'false', 'use_load_balancer_configuration'),
  },
  [`${DNS_FAILOVER}.count`]: { usual: '1', accepts: either(oneOf('off'), whole(1, 1000)) },
  [`${DNS_FAILOVER}.percentage`]: { usual: 'off', accepts: either(oneOf('off'), whole(1, 100)) },
  [`${UNHEALTHY_ROUTING}.count`]: { usual: '1', accepts: whole(1, 1000) },
  [`${UNHEALTHY_ROUTING}.percentage`]: { usual: 'off', accepts: either(oneOf('off'), whole(1, 100)) },
};

const APPLICATION: Rules = {
  ...BOTH,
  'stickiness.type': { usual: 'lb_cookie', accepts: anything, simulated: false },
  // Requests are shared out evenly under each of the three: only slow start tells them apart here.
  [ALGORITHM]: {
    usual: 'round_robin',
    accepts: oneOf('round_robin', 'least_outstanding_requests', 'weighted_random'),
  },
  'load_balancing.algorithm.anomaly_mitigation': {
    usual: 'off',
    accepts: oneOf('on', 'off'),
    simulated: false,
  },
  [SLOW_START]: { usual: '0', accepts: either(oneOf('0'), whole(30, 900)) },
};

const NETWORK: Rules = {
  ...BOTH,
  'stickiness.type': { usual: 'source_ip', accepts: anything, simulated: false },
  [CLOSES_AFTER_DELAY]: { usual: 'false', accepts: boolean },
  [CLOSES_WHEN_UNHEALTHY]: { usual: 'true', accepts: boolean },
  [UNHEALTHY_DRAINING]: { usual: '0', accepts: whole(0, 360_000) },
};

const LAMBDA: Rules = {
  'lambda.multi_value_headers.enabled': { usual: 'false', accepts: boolean, simulated: false },
};

/** One target group's attributes, as AWS lists them and as the simulation reads them. */
export class TargetGroupAttributes {
  readonly #rules: Rules;
  readonly #closesByItself: boolean;
  #values: ReadonlyMap<string, string>;
  #settings: TargetGroupSettings;

  constructor(type: LoadBalancerType, targetType: TargetType, changes: Readonly<Record<string, string>>) {
    this.#rules = targetType === 'lambda' ? LAMBDA : type === 'application' ? APPLICATION : NETWORK;
    this.#closesByItself = type === 'application';
    const usual = Object.entries(this.#rules).map(([key, rule]) => [key, rule.usual] as const);
    this.#values = this.#changed(new Map(usual), Object.entries(changes));
    this.#settings = this.#read();
  }

  get settings(): TargetGroupSettings {
    return this.#settings;
  }

  list(): { Key: string; Value: string }[] {
    return [...this.#values].map(([Key, Value]) => ({ Key, Value }));
  }

  /**
   * Changes all of `changes` or none.
   *
   * @throws ServiceError ValidationError for a key that this kind of group lacks, InvalidConfigurationRequest for a
   *   bad value, UnsupportedOperation for a value that AWS would take and the simulation does not know
   */
  change(changes: Iterable<readonly [key: string, value: string]>): void {
    this.#values = this.#changed(this.#values, changes);
    this.#settings = this.#read();
  }

  #changed(
    from: ReadonlyMap<string, string>,
    changes: Iterable<readonly [key: string, value: string]>,
  ): ReadonlyMap<string, string> {
    const values = new Map(from);
    for (const [key, value] of changes) {
      const rule = this.#rules[key];
      if (!rule)
        throw new ServiceError('ValidationError', `Target group attribute key '${key}' is not recognized`);
      if (!rule.accepts(value))
        throw new ServiceError('InvalidConfigurationRequest', `'${value}' is not a valid value for '${key}'`);
      if (rule.simulated === false && value !== rule.usual)
        throw new ServiceError('UnsupportedOperation', `${key} = ${value} is not simulated`);
      values.set(key, value);
    }
    if (values.get(SLOW_START) !== '0' && (values.get(ALGORITHM) ?? 'round_robin') !== 'round_robin')
      refuseSlowStart(values);
    return values;
  }

  #read(): TargetGroupSettings {
    const values = this.#values;
    const number = (key: string) => Number(values.get(key)?.replace('off', '0') ?? 0);
    const minimum = (prefix: string): HealthyMinimum => ({
      count: number(`${prefix}.count`),
      percentage: number(`${prefix}.percentage`),
    });
    const crossZone = values.get(CROSS_ZONE);
    return {
      deregistrationDelaySeconds: number(DELAY),
      crossZone: crossZone === 'true' ? true : crossZone === 'false' ? false : undefined,
      slowStartSeconds: number(SLOW_START),
      dnsFailover: minimum(DNS_FAILOVER),
      unhealthyStateRouting: minimum(UNHEALTHY_ROUTING),
      closesAfterDelay: this.#closesByItself || values.get(CLOSES_AFTER_DELAY) === 'true',
      closesWhenUnhealthy: values.get(CLOSES_WHEN_UNHEALTHY) === 'true',
      unhealthyDrainingSeconds:
        values.get(CLOSES_WHEN_UNHEALTHY) === 'false' ? number(UNHEALTHY_DRAINING) : 0,
    };
  }
}

function refuseSlowStart(values: ReadonlyMap<string, string>): never {
  throw new ServiceError(
    'InvalidConfigurationRequest',
    `${SLOW_START} = ${values.get(SLOW_START)} cannot be combined with ${ALGORITHM} = ${values.get(ALGORITHM)}`,
  );
}

import { uuid } from '../account/uuid.ts';
import type { World } from '../account/world.ts';
import type { Random } from '../clock/random.ts';
import { type Caller, ServiceError } from '../wire/contract.ts';
import type { Authorization } from './authorization.ts';
import type {
  DeployedFunction,
  DeployedMachine,
  DeployedRule,
  DeployedTemplate,
  RuleTarget,
} from './deployed-template.ts';
import { compilePattern, type EventMatcher } from './event-pattern.ts';
import { isInvited } from './invitations.ts';
import type { Json, JsonObject } from './json.ts';
import type { Queues } from './queues.ts';
import { periodOf } from './schedule.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import { shapeInput } from './target-input.ts';

/** An event as a service sends it; EventBridge adds the rest. */
export interface EventEntry {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: JsonObject;
  readonly resources?: readonly string[];
  /** When it happened, in milliseconds; now when absent. */
  readonly at?: number;
}

/** What EventBridge delivers to. Permissions have been checked before. Rejecting refuses the delivery. */
export interface EventTargets {
  /** Lambda's asynchronous invocation: resolves when Lambda has accepted the event, not when the function has run. */
  invoke(target: DeployedFunction, functionArn: string, event: Json, caller: Caller): Promise<void>;
  start(target: DeployedMachine, input: Json, caller: Caller): Promise<void>;
}

/** An event that no dead-letter queue has kept. */
export interface DroppedEvent {
  readonly rule: string;
  readonly event: Json;
  readonly reason: string;
}

export interface EventsSettings {
  readonly world: World;
  readonly template: DeployedTemplate;
  readonly authorization: Authorization;
  readonly queues: Queues;
  readonly targets: EventTargets;
  readonly metrics: ServiceMetrics;
  /** When each copy of an event reaches a rule, in milliseconds from now: none for a lost one, two for a duplicate. */
  readonly deliveries?: (event: JsonObject, rule: string) => readonly number[];
}

type Destination =
  | { readonly kind: 'function'; readonly holder: DeployedFunction }
  | { readonly kind: 'machine'; readonly holder: DeployedMachine };

/** EventBridge's documentation speaks of about half a second from put to target. */
const TYPICAL_LATENCY_MS = 500;

/** EventBridge backs off exponentially with jitter; its first step and its cap are not published. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 600_000;

/** The default event bus with the template's rules. */
export class Events {
  readonly dropped: DroppedEvent[] = [];
  readonly #settings: EventsSettings;
  readonly #random: Random;
  readonly #matchers: ReadonlyMap<DeployedRule, EventMatcher>;
  readonly #destinations: ReadonlyMap<RuleTarget, Destination>;

  /** @throws Error on a pattern, a schedule or a target that is not implemented */
  constructor(settings: EventsSettings) {
    this.#settings = settings;
    this.#random = settings.world.random.fork('events');
    const enabled = [...settings.template.rules.values()].filter(rule => rule.enabled);
    this.#matchers = new Map(
      enabled.flatMap(rule =>
        rule.trigger.kind === 'pattern' ? [[rule, compilePattern(rule.trigger.pattern, rule.logicalId)]] : [],
      ),
    );
    this.#destinations = new Map(
      enabled.flatMap(rule => rule.targets.map(target => [target, this.#destination(rule, target)])),
    );
    for (const rule of enabled)
      if (rule.trigger.kind === 'schedule') this.#schedule(rule, rule.trigger.expression);
  }

  /** Accepts an event from a service and delivers it to every matching rule, later. Returns the event's id. */
  put(entry: EventEntry): string {
    const { event, id } = this.#envelope(entry);
    for (const [rule, matches] of this.#matchers) if (matches(event)) this.#trigger(rule, event);
    return id;
  }

  #schedule(rule: DeployedRule, expression: string): void {
    const entry: EventEntry = {
      source: 'aws.events',
      'detail-type': 'Scheduled Event',
      resources: [rule.arn],
      detail: {},
    };
    this.#settings.world.clock.every(periodOf(expression, rule.logicalId), () =>
      this.#trigger(rule, this.#envelope(entry).event),
    );
  }

  #envelope(entry: EventEntry): { readonly id: string; readonly event: JsonObject } {
    const { clock, accountId, region } = this.#settings.world;
    const id = uuid(this.#random);
    const event = {
      version: '0',
      id,
      'detail-type': entry['detail-type'],
      source: entry.source,
      account: accountId,
      // EventBridge's times have whole seconds.
      time: new Date(entry.at ?? clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
      region,
      resources: entry.resources ?? [],
      detail: entry.detail,
    };
    return { id, event };
  }

  #trigger(rule: DeployedRule, event: JsonObject): void {
    const { world, metrics, deliveries = () => [TYPICAL_LATENCY_MS] } = this.#settings;
    metrics.triggered(rule);
    for (const delayMs of deliveries(event, rule.logicalId))
      for (const target of rule.targets)
        world.clock.after(delayMs, () => {
          this.#deliver(rule, target, event).catch((error: unknown) => world.clock.fail(error));
        });
  }

  /** Tries until the target accepts, refuses for good, or the retry policy ends. */
  async #deliver(rule: DeployedRule, target: RuleTarget, event: JsonObject): Promise<void> {
    const { clock } = this.#settings.world;
    const input = shapeInput(target.input, event);
    const givesUpAt = clock.now() + target.maximumEventAgeSeconds * 1000;
    for (let retries = 0; ; retries++) {
      try {
        await this.#send(rule, target, input);
        this.#settings.metrics.delivered(rule, 'delivered');
        return;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const waitMs = this.#random.between(0, Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** retries));
        const exhausted = retries >= target.maximumRetryAttempts || clock.now() + waitMs > givesUpAt;
        if (exhausted || !isRetryable(error)) return this.#bury(rule, target, event, error, retries);
        await clock.sleep(waitMs);
      }
    }
  }

  async #send(rule: DeployedRule, target: RuleTarget, input: Json): Promise<void> {
    const { authorization, targets, world } = this.#settings;
    const caller: Caller = { kind: 'rule', name: rule.logicalId };
    const destination = this.#destinations.get(target);
    if (destination?.kind === 'function') {
      refuseUninvited(rule, target, destination.holder);
      await targets.invoke(destination.holder, target.arn, input, caller);
    } else if (destination) {
      const call = { service: 'states', action: 'StartExecution', caller, at: world.clock.now() };
      authorization.before(call, { stateMachineArn: target.arn });
      await targets.start(destination.holder, input, caller);
    }
  }

  #bury(
    rule: DeployedRule,
    target: RuleTarget,
    event: JsonObject,
    error: ServiceError,
    retries: number,
  ): void {
    const attributes = {
      RULE_ARN: rule.arn,
      TARGET_ARN: target.arn,
      ERROR_CODE: error.code,
      ERROR_MESSAGE: error.message,
      RETRY_ATTEMPTS: String(retries),
    };
    const message = { body: JSON.stringify(event), attributes };
    const sender = { principal: 'events.amazonaws.com', sourceArn: rule.arn } as const;
    let reason = error.message;
    try {
      if (target.deadLetterArn) {
        this.#settings.queues.send(target.deadLetterArn, message, sender);
        this.#settings.metrics.delivered(rule, 'kept');
        return;
      }
    } catch (refusal) {
      if (!(refusal instanceof ServiceError)) throw refusal;
      reason = refusal.message;
    }
    this.#settings.metrics.delivered(rule, target.deadLetterArn ? 'not kept' : 'dropped');
    this.dropped.push({ rule: rule.logicalId, event, reason });
  }

  #destination(rule: DeployedRule, target: RuleTarget): Destination {
    const { functions, machines } = this.#settings.template;
    for (const holder of functions.values())
      if (target.arn === holder.arn || target.arn.startsWith(`${holder.arn}:`))
        return { kind: 'function', holder };
    for (const holder of machines.values()) if (target.arn === holder.arn) return { kind: 'machine', holder };
    throw new Error(`${rule.logicalId}: the target ${target.arn} is no function or machine of the template`);
  }
}

/** Lambda lets EventBridge in by the function's resource policy, for the very version or alias that the rule names. */
function refuseUninvited(rule: DeployedRule, target: RuleTarget, holder: DeployedFunction): void {
  const sender = { principal: 'events.amazonaws.com', sourceArn: rule.arn };
  if (!isInvited(holder, target.arn, sender))
    throw new ServiceError(
      'NO_PERMISSIONS',
      `events.amazonaws.com for ${rule.arn} is not authorized to perform: lambda:InvokeFunction on resource: ${target.arn}`,
      403,
    );
}

const isRetryable = ({ code, status }: ServiceError): boolean =>
  status >= 500 || /Throttl|TooManyRequests|ExecutionLimitExceeded/.test(code);

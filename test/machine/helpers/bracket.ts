// First: SDK modules that are loaded from here on keep the timers and file reads of virtual time.
import '../../../local/clock/lambda-globals.ts';
import type { z } from 'zod';
import { autoScalingActs } from '../../../local/account/auto-scaling-acts.ts';
import { ec2Api } from '../../../local/account/ec2-service.ts';
import type { Entry } from '../../../local/account/journal.ts';
import { scenario } from '../../../local/simulate/scenario.ts';
import {
  ledgerItems,
  type SimulationSettings,
  type Standing,
  settleEnd,
  standUp,
} from '../../../local/simulate/simulation.ts';
import type { Stack } from '../../../local/stack/deploy.ts';
import type { Execution } from '../../../local/states/execution.ts';
import type { Json } from '../../../local/states/json.ts';
import type { Call, Gate } from '../../../local/wire/contract.ts';

export type Fleet = z.input<typeof scenario>['fleet'];

export interface BracketSettings
  extends Pick<SimulationSettings, 'gates' | 'dies' | 'parameters' | 'deliveries' | 'quotas'> {
  readonly physics?: z.input<typeof scenario>['physics'];
}

/** One call of a function, as it arrived. */
export interface Sent extends Call {
  readonly input: Readonly<Record<string, unknown>>;
}

/** An entry of PutEvents. */
export interface PutEvent {
  readonly DetailType: string;
  readonly Detail: { readonly runId: string };
}

/** Four instances in two zones behind an Application Load Balancer, with one included check. */
export const usual: Fleet = {
  instances: 4,
  zones: ['eu-west-1a', 'eu-west-1b'],
  targetGroups: [{ name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '60' } }],
  checks: [{ port: 8080 }],
};

/** How an execution has ended: `SUCCEEDED`, or for example `FAILED BelowFloor`. */
export const outcome = ({ status, error }: Execution): string => [status, error].filter(Boolean).join(' ');

/** A fleet with Quiesce beside it, whose machines are started by hand. */
export class Bracket {
  readonly standing: Standing;
  readonly stack: Stack;
  /** Every call that a function has made, in order. */
  readonly sent: Sent[];
  readonly putEvents: readonly PutEvent[];
  #started = 0;

  constructor(standing: Standing, sent: Sent[], putEvents: readonly PutEvent[]) {
    if (!standing.stack) throw new Error('a bracket has a stack');
    this.standing = standing;
    this.stack = standing.stack;
    this.sent = sent;
    this.putEvents = putEvents;
  }

  get clock() {
    return this.standing.account.world.clock;
  }

  /** The ids of the fleet's instances of these numbers; of all unless given. */
  ids(...numbers: number[]): string[] {
    const all = this.standing.fleet.instances.map(instance => instance.id);
    return numbers.length === 0 ? all : numbers.map(number => all[number] ?? `no instance ${number}`);
  }

  /** Starts before-deploy for the first two instances as run `r`, unless `request` says otherwise. */
  startBefore(request: Readonly<Record<string, unknown>> = {}): Execution {
    return this.start('BeforeDeploy', { runId: 'r', fleet: { instanceIds: this.ids(0, 1) }, ...request });
  }

  start(machine: 'BeforeDeploy' | 'AfterDeploy' | 'PromoteCheck' | 'RetireCheck', input: unknown): Execution {
    return this.stack.startExecution(machine, { name: `e${++this.#started}`, input: input as Json });
  }

  /** Lets time pass until the executions have ended. */
  async end<T extends readonly Execution[]>(...executions: T): Promise<T> {
    await this.clock.runFor(Promise.all(executions.map(execution => execution.ended)));
    return executions;
  }

  /** Lets time pass until an execution enters a state. */
  async reaches(execution: Execution, state: string): Promise<void> {
    while (!this.path(execution).includes(state)) await this.clock.pass(1000);
  }

  async before(request: Readonly<Record<string, unknown>> = {}): Promise<Execution> {
    return (await this.end(this.startBefore(request)))[0];
  }

  async after(request: Readonly<Record<string, unknown>> = {}): Promise<Execution> {
    return (await this.end(this.start('AfterDeploy', { runId: 'r', ...request })))[0];
  }

  /** As a person does; without seconds, indefinitely. */
  suppressByHand(InstanceIds: string[], DurationSeconds?: number): void {
    ec2Api(this.standing.account.checks).EnableApplicationStatusCheckSuppression({
      InstanceIds,
      ...(DurationSeconds !== undefined && { DurationSeconds }),
    });
  }

  /** As a person does. */
  liftByHand(InstanceIds: string[]): void {
    ec2Api(this.standing.account.checks).DisableApplicationStatusCheckSuppression({ InstanceIds });
  }

  /** As a person does. */
  markUnhealthyByHand(instanceIds: readonly string[]): void {
    for (const InstanceId of instanceIds)
      autoScalingActs(this.standing.account.autoScaling).SetInstanceHealth({
        InstanceId,
        HealthStatus: 'Unhealthy',
        ShouldRespectGracePeriod: false,
      });
  }

  async ledger(): Promise<readonly { readonly pk: string; readonly status: string | undefined }[]> {
    const items = await this.clock.runFor(ledgerItems(this.stack));
    return items.map(({ pk, status }) => ({ pk, status }));
  }

  /** What is left, and every invariant that was broken, when all that was set in motion has shown. */
  async violations(): Promise<string[]> {
    await settleEnd(this.standing);
    return this.standing.invariants.violations.map(({ invariant, what }) => `${invariant}: ${what}`);
  }

  /** Calls of functions that change something outside the ledger. */
  get acts(): Sent[] {
    return this.sent.filter(
      ({ service, action }) => service !== 'dynamodb' && !/^(Describe|List|Get|BatchGet)/.test(action),
    );
  }

  actsOf(action: string): Sent[] {
    return this.acts.filter(sent => sent.action === action);
  }

  /** The journal's entries of one type, in order. */
  entries<T extends Entry['type']>(type: T): Extract<Entry, { type: T }>[] {
    return this.standing.account.world.journal.entries.filter(
      (entry): entry is Extract<Entry, { type: T }> => entry.type === type,
    );
  }

  /** When an execution first entered a state, in milliseconds since the epoch. */
  enteredAt(execution: Execution, state: string): number {
    const entered = this.entries('state-entered').find(
      entry => entry.executionArn === execution.arn && entry.state === state,
    );
    if (!entered) throw new Error(`${execution.name} has not entered ${state}`);
    return entered.at;
  }

  /** The events of our own that a machine has put on the bus, in order. */
  get announced(): { readonly type: string; readonly runId: string }[] {
    return this.putEvents.map(({ DetailType, Detail }) => ({ type: DetailType, runId: Detail.runId }));
  }

  /** How the executions of a machine have ended, in order. */
  ended(machine: string): string[] {
    return this.#executionsOf(machine).map(outcome);
  }

  /** The ARN of the newest execution of a machine. */
  latest(machine: string): string {
    return this.#executionsOf(machine).at(-1)?.arn ?? `${machine} was never started`;
  }

  #executionsOf(machine: string): Execution[] {
    const arn = this.stack.template.machines.get(machine)?.arn;
    return [...this.stack.executions.all()].filter(execution => execution.machine.arn === arn);
  }

  /** The states that an execution entered, in order. */
  path(execution: Execution): string[] {
    return this.entries('state-entered')
      .filter(entry => entry.executionArn === execution.arn)
      .map(entry => entry.state);
  }
}

export async function bracket(
  fleet: Fleet = usual,
  { physics = {}, gates, ...settings }: BracketSettings = {},
): Promise<Bracket> {
  const sent: Sent[] = [];
  const putEvents: PutEvent[] = [];
  const record: Gate = {
    before: (call, input) => {
      if (call.caller.kind === 'function') sent.push({ ...call, input });
      if (call.action === 'PutEvents') putEvents.push(...(input.Entries as PutEvent[]));
    },
  };
  const standing = await standUp({
    scenario: scenario.parse({ name: 'by-hand', fleet, physics }),
    gates: account => [record, ...(gates?.(account) ?? [])],
    ...settings,
  });
  return new Bracket(standing, sent, putEvents);
}

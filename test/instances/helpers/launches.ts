import { autoScalingActs } from '../../../local/account/auto-scaling-acts.ts';
import type { Execution } from '../../../local/states/execution.ts';
import type { Gate } from '../../../local/wire/contract.ts';
import {
  type Bracket,
  type BracketSettings,
  bracket,
  type Fleet,
  usual,
} from '../../machine/helpers/bracket.ts';

type AutoScaling = NonNullable<Fleet['autoScaling']>;

/** The usual fleet, with Quiesce's hooks on its group and an application that is up soon. */
export const hooked = (more: Partial<Fleet> = {}, group: AutoScaling = {}): Fleet => ({
  ...usual,
  startUpSeconds: 5,
  autoScaling: { hooks: { launch: 60, terminate: 60 }, ...group },
  checks: [{ port: 8080, graceSeconds: 1 }],
  ...more,
});

/** A fleet whose group grows and shrinks. */
export class Scaled {
  readonly bracket: Bracket;

  constructor(bracket: Bracket) {
    this.bracket = bracket;
  }

  get group() {
    return this.bracket.standing.account.autoScaling.group('web');
  }

  get #acts() {
    return autoScalingActs(this.bracket.standing.account.autoScaling);
  }

  scaleTo(DesiredCapacity: number): void {
    this.#acts.SetDesiredCapacity({ AutoScalingGroupName: 'web', DesiredCapacity });
  }

  /** Auto Scaling ends it, and launches another. */
  replace(InstanceId: string): void {
    this.#acts.TerminateInstanceInAutoScalingGroup({ InstanceId, ShouldDecrementDesiredCapacity: false });
  }

  /** Somebody else's hook keeps every instance that is ended for so long. */
  keepTerminations(seconds: number): void {
    this.bracket.standing.account.autoScaling.hooks.put(this.group, 'somebody-else', {
      transition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      heartbeatTimeoutSeconds: seconds,
      defaultResult: 'CONTINUE',
    });
  }

  async pass(seconds: number): Promise<void> {
    await this.bracket.clock.pass(seconds * 1000);
  }

  /** Instances that are not of the fleet's first ones. */
  get newcomers(): string[] {
    const first = new Set(this.bracket.ids());
    return [...new Set(this.bracket.entries('lifecycle').map(({ instanceId }) => instanceId))].filter(
      id => !first.has(id),
    );
  }

  /** The lifecycle states of an instance, in order. */
  path(instanceId: string): string[] {
    return this.bracket
      .entries('lifecycle')
      .filter(entry => entry.instanceId === instanceId)
      .map(({ state }) => state);
  }

  /** How long an instance was in a lifecycle state, in seconds. */
  secondsIn(instanceId: string, state: string): number {
    const entries = this.bracket.entries('lifecycle').filter(entry => entry.instanceId === instanceId);
    const at = entries.findIndex(entry => entry.state === state);
    const [from, to] = [entries[at]?.at, entries[at + 1]?.at];
    return from === undefined || to === undefined ? Number.NaN : (to - from) / 1000;
  }

  executions(machine: 'InstanceLaunch' | 'InstanceTermination'): Execution[] {
    return [...this.bracket.stack.executions.all()].filter(({ machine: { name } }) => name.endsWith(machine));
  }

  /** The results with which lifecycle actions were completed. */
  get completed(): unknown[] {
    return this.bracket.actsOf('CompleteLifecycleAction').map(({ input }) => input.LifecycleActionResult);
  }
}

/** Run `r` is fenced while an instance joins it: before its record names the instance, or after that one has its claim. */
export async function fencedWhileJoining(moment: 'before its record' | 'after its claim'): Promise<Scaled> {
  let fence = async () => {};
  const fenceAt =
    (key: string): NonNullable<Gate['before']> =>
    async ({ action, caller }, input) => {
      const isIt = JSON.stringify(input.Key ?? '').includes(key);
      if (isIt && action === 'UpdateItem' && caller.name === 'InstanceLaunchFunction') await fence();
    };
  const gate = moment === 'after its claim' ? { after: fenceAt('instance#') } : { before: fenceAt('run#') };
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 } }), { gates: () => [gate] });
  const before = await fleet.bracket.before({ policy: { launches: 'join' } });
  const { template, lambda } = fleet.bracket.stack;
  const payload = { runId: 'r', execution: before.arn, error: 'Stopped', cause: 'by a person' };
  fence = async () => void (await lambda.invoke(template.functions.get('FenceFunction')?.arn ?? '', payload));
  fleet.scaleTo(5);
  await fleet.pass(420);
  return fleet;
}

export const scaled = async (fleet: Fleet = hooked(), settings: BracketSettings = {}): Promise<Scaled> =>
  new Scaled(await bracket(fleet, settings));

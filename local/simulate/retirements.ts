import { z } from 'zod';
import type { Account } from '../account/account.ts';
import { referredBy, type SecurityGroup } from '../account/ec2-network.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Call } from '../wire/contract.ts';
import { OPT_IN } from './build-fleet.ts';
import type { Evidence } from './evidence.ts';
import type { LedgerItem } from './judge-end.ts';
import type { Scenario } from './scenario.ts';

const DELETED_WHEN_FREE = 'quiesce-delete-when-free';

const started = z.object({
  checkId: z.string().default(''),
  keepCheck: z.boolean().default(false),
  securityGroupIds: z.array(z.string()).default([]),
});

/** Invariants 4 and 6 of what is retired: only what was named or carries the tag is deleted, and none of it is forgotten. */
export class Retirements {
  readonly #account: Account;
  readonly #deletedChecks = new Set<string>();
  /** Those that did not carry the tag that lets them be deleted unnamed. */
  readonly #deletedGroups = new Set<string>();

  constructor(account: Account) {
    this.#account = account;
  }

  /** May a function make this call? Whether it was told to is judged when the machines' inputs are known. */
  mayDelete({ action, caller }: Call, input: Readonly<Record<string, unknown>>): boolean {
    if (caller.name !== 'ActOnRetirementFunction') return false;
    const { checks, ec2 } = this.#account;
    if (action === 'DeleteApplicationStatusCheck') {
      const id = String(input.ApplicationStatusCheckId);
      const check = [...checks.registry.all()].find(one => one.id === id);
      this.#deletedChecks.add(id);
      return check?.tags.get('quiesce') === OPT_IN.quiesce;
    }
    const group = ec2.network.securityGroups.get(String(input.GroupId));
    if (action !== 'DeleteSecurityGroup') return false;
    if (group && !group.tags.has(DELETED_WHEN_FREE)) this.#deletedGroups.add(group.id);
    return !group || group.tags.get('quiesce') === OPT_IN.quiesce;
  }

  judgeEnd({ broken, scenario }: Evidence, stack: Stack, ledger: readonly LedgerItem[]): void {
    const executions = [...stack.executions.all()].filter(
      ({ machine }) => machine.arn === stack.template.machines.get('RetireCheck')?.arn,
    );
    const inputs = executions.map(({ input }) => started.safeParse(input).data);
    const named = (id: string) =>
      inputs.some(
        one => one && ((one.checkId === id && !one.keepCheck) || one.securityGroupIds.includes(id)),
      );
    for (const id of [...this.#deletedChecks, ...this.#deletedGroups])
      if (!named(id)) broken(6, `${id} was deleted, and nobody had named it`);
    for (const { pk, status } of ledger)
      if (pk.startsWith('retirement#') && status !== 'ended') broken(7, `${pk} is still ${status}`);
    const isWatched = watchesInterfaces(scenario);
    // What has failed has told people what is left, and why; without the watch nobody goes on with it.
    const isRetired = executions.length > 0 && executions.every(({ status }) => status === 'SUCCEEDED');
    if (!isWatched && !isRetired) return;
    for (const group of this.#account.ec2.network.securityGroups.values())
      if (group.tags.has(DELETED_WHEN_FREE) && this.#isFree(group))
        broken(4, `${group.id} is free and forgotten`);
    if (isWatched)
      for (const id of lingeringIn(this.#account))
        if (!ledger.some(({ pk }) => pk === `interface#${id}`)) broken(4, `${id} lingers and is forgotten`);
  }

  /** Does nothing hold this group, nor any check need it? */
  #isFree({ id }: SecurityGroup): boolean {
    const { checks, ec2 } = this.#account;
    const { interfaces, securityGroups, vpcAssociations } = ec2.network;
    return !(
      [...interfaces.values()].some(({ groupIds }) => groupIds.includes(id)) ||
      [...securityGroups.values()].some(group => group.id !== id && referredBy(group).includes(id)) ||
      vpcAssociations.has(id) ||
      checks.registry
        .active()
        .some(({ settings }) => settings.healthCheckPaths.some(({ source }) => source.securityGroupId === id))
    );
  }
}

/** The interfaces that no check needs any more and that AWS has not removed yet. */
export function lingeringIn({ world }: Account): ReadonlySet<string> {
  const lingering = new Set<string>();
  for (const entry of world.journal.entries)
    if (entry.type === 'interface') {
      if (entry.state === 'lingering') lingering.add(entry.interfaceId);
      else lingering.delete(entry.interfaceId);
    }
  return lingering;
}

/** Does the stack of this scenario look after the interfaces of checks by itself? */
export const watchesInterfaces = ({ parameters }: Scenario): boolean =>
  parameters.InterfaceWatch === 'Enabled';

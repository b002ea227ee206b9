import { executionName } from '../../functions/core/naming.ts';
import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';

/** What is under way: who is suppressed since when, which instances are being deployed to, and what we have taken out. */
export class Underway {
  /** Since when an instance's present suppression was asked for. */
  readonly suppressedSince = new Map<string, number>();
  /** The run of each instance, from its go-ahead until its after-deploy ends or fails. */
  readonly deployments = new Map<string, { readonly runId: string; readonly since: number }>();
  /** Targets that a function has deregistered and that are not back, as `ARN id:port`. */
  readonly out = new Set<string>();
  readonly #firstGoAhead = new Map<string, number>();
  readonly #markedAt = new Map<string, number>();

  constructor({ world: { journal } }: Account) {
    journal.listen(entry => this.#hear(entry));
  }

  /** A run's go-ahead is that of its first instance: nobody asks again before the others. */
  goAheadOf(runId: string): number | undefined {
    return this.#firstGoAhead.get(runId);
  }

  /** Was it marked Unhealthy before the deployment that is on it now? In Standby a mark waits (D4). */
  wasMarkedBefore(instanceId: string): boolean {
    const { since } = this.deployments.get(instanceId) ?? { since: 0 };
    return (this.#markedAt.get(instanceId) ?? since) < since;
  }

  takeOut(
    targetGroupArn: string,
    targets: readonly { readonly Id?: unknown; readonly Port?: unknown }[],
  ): void {
    for (const { Id, Port } of targets) this.out.add(`${targetGroupArn} ${Id}:${Port}`);
  }

  #hear(entry: Entry): void {
    switch (entry.type) {
      case 'suppression':
        if (entry.state === 'spreading') this.suppressedSince.set(entry.instanceId, entry.at);
        if (entry.state === 'released') this.suppressedSince.delete(entry.instanceId);
        return;
      case 'deployment':
        if (entry.state !== 'go-ahead') return;
        this.#firstGoAhead.set(entry.detail, this.#firstGoAhead.get(entry.detail) ?? entry.at);
        return;
      case 'execution':
        if (entry.status !== 'RUNNING') this.#end(entry.executionArn);
        return;
      case 'marked-unhealthy':
        this.#markedAt.set(entry.instanceId, entry.at);
        return;
      case 'state-entered':
        // A run that has failed gives its instances back as they are.
        if (entry.state === 'Fence') this.#end(entry.executionArn);
        return;
      case 'target':
        // Registered again, by us or by Auto Scaling at the end of Standby.
        if (entry.state === 'initial' || entry.state === 'healthy')
          this.out.delete(`${entry.targetGroupArn} ${entry.id}:${entry.port}`);
    }
  }

  #end(executionArn: string): void {
    for (const [id, { runId }] of this.deployments)
      if (endsRun(executionArn, runId)) this.deployments.delete(id);
  }
}

/** The id, or the address, of a target that is written as `ARN id:port`. */
export const targetIdOf = (target: string): string | undefined => target.split(' ')[1]?.split(':')[0];

/** Is it the after-deploy of this run, or its undo-run, whose name also tells what it takes the run over from? */
function endsRun(executionArn: string, runId: string): boolean {
  const name = executionArn.split(':').at(-1) ?? '';
  const undo = executionName('undo', runId).replace(/[0-9a-f]+$/, '');
  return [`after-${runId}`, executionName('after', runId)].includes(name) || name.startsWith(undo);
}

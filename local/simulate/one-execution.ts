import type { Execution } from '../states/execution.ts';
import type { Json } from '../states/json.ts';
import type { DeploymentResult, Site } from './deployment.ts';

/** What a scenario has instead of a deployment: one execution of a machine, told as if it were a deployment of one batch. */
export class OneExecution {
  readonly #site: Site;
  readonly #name: string;
  readonly #executions: Execution[] = [];

  constructor(site: Site, name: string) {
    this.#site = site;
    this.#name = name;
    this.#tell('started', '');
    this.#tell('batch', name);
  }

  get #instanceIds(): string[] {
    return this.#site.fleet.instances.map(({ id }) => id);
  }

  /** @param firstAct the state before which nothing has been touched: what fails earlier is refused */
  async run(
    stack: NonNullable<Site['stack']>,
    machine: string,
    input: object,
    firstAct: string,
  ): Promise<DeploymentResult> {
    const execution = stack.startExecution(machine, { name: this.#name, input: input as Json });
    this.#executions.push(execution);
    await execution.ended;
    if (execution.status === 'SUCCEEDED') return this.ends('succeeded');
    const wasTouched = this.#site.account.world.journal.entries.some(
      entry =>
        entry.type === 'state-entered' && entry.executionArn === execution.arn && entry.state === firstAct,
    );
    const error = execution.error ?? execution.status;
    return this.ends(wasTouched ? 'failed' : 'refused', error, execution.cause ?? '');
  }

  ends(outcome: DeploymentResult['outcome'], error = '', cause = ''): DeploymentResult {
    this.#tell(outcome === 'succeeded' ? 'succeeded' : 'failed', error);
    const batch = { runId: this.#name, instanceIds: this.#instanceIds, executions: this.#executions };
    return { outcome, error, cause, batches: [batch] };
  }

  #tell(state: 'started' | 'batch' | 'failed' | 'succeeded', detail: string): void {
    const { journal } = this.#site.account.world;
    journal.record({ type: 'deployment', state, instanceIds: this.#instanceIds, detail });
  }
}

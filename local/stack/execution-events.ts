import type { World } from '../account/world.ts';
import type { Execution } from '../states/execution.ts';
import type { Executions } from '../states/executions.ts';
import type { EventEntry, Events } from './events.ts';

/** Puts an event on the bus whenever an execution starts or ends, as Step Functions does for Standard machines. */
export function announceExecutions(world: World, executions: Executions, events: Events): void {
  world.journal.listen(entry => {
    if (entry.type !== 'execution') return;
    // The journal hears of a new execution just before the account can find it.
    queueMicrotask(() => {
      const execution = executions.find(entry.executionArn);
      if (execution) events.put(statusChange(execution));
    });
  });
}

function statusChange(execution: Execution): EventEntry {
  const { arn, name, machine, status, input, output, startedAt, stoppedAt, error, cause } = execution;
  const included = { included: true };
  return {
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    resources: [arn],
    detail: {
      executionArn: arn,
      stateMachineArn: machine.arn,
      name,
      status,
      startDate: startedAt,
      stopDate: stoppedAt ?? null,
      input: JSON.stringify(input),
      inputDetails: included,
      output: output === undefined ? null : JSON.stringify(output),
      outputDetails: output === undefined ? null : included,
      error: error ?? null,
      cause: cause ?? null,
      redriveCount: 0,
      redriveDate: null,
    },
  };
}

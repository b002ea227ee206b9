import { readOrFaults, sentenceOf } from '../../functions/core/faults.ts';
import { executionName } from '../../functions/core/naming.ts';
import { afterRequest, isRunId } from '../../functions/core/request.ts';
import { type Command, jsonOption, readOptions, UsageError } from './command.ts';
import { machineOption, readMachineArn } from './machine-option.ts';
import { runMachine } from './run-machine.ts';

const options = {
  machine: machineOption('AfterDeploy'),
  run: { type: 'string', value: 'RUNID', about: 'The runId of the request that before-deploy was given.' },
  promote: {
    type: 'string',
    value: 'ID,ID',
    about: 'Excluded checks that the deployment has brought: adopted once the fleet is in service.',
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (RunReport in local/cli/run-machine.ts) at the end and nothing else.',
  },
} as const;

export const afterCommand: Command = {
  name: 'after',
  about:
    'Starts after-deploy for a run, or joins the execution when it was started already, and follows it until the fleet is in service again and released. Ctrl-C leaves the execution running and says how to follow it again.',
  options,
  examples: [
    'quiesce after --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-AfterDeploy --run release-42',
  ],
  endsWith: {
    ok: 'The fleet is in service, ready and released.',
    failed: 'It was refused or failed: the error and its sentence are shown.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values } = readOptions('after', options, args);
  const machineArn = readMachineArn('AfterDeploy', values.machine);
  const { run: runId, promote } = values;
  if (runId === undefined || !isRunId(runId)) throw new UsageError('Name the run: --run RUNID.');
  const input = {
    runId,
    ...(promote !== undefined && { promoteCheckIds: promote.split(',').map(id => id.trim()) }),
  };
  const { faults = [] } = readOrFaults(afterRequest, input);
  if (faults.length > 0)
    throw new UsageError(faults.map(fault => sentenceOf({ ...fault, path: ['--promote'] }, '')).join('\n'));
  return runMachine({
    runId,
    machineArn,
    // Of its own for what it promotes: one that was refused may be called again without it.
    name: executionName('after', runId, promote),
    input,
    json: values.json,
    begins: `Run ${runId} is brought back into service`,
    again: `quiesce after --machine ${machineArn} --run ${runId}${promote === undefined ? '' : ` --promote ${promote}`}`,
    succeeded: `Run ${runId} is over: in service, ready and released.`,
  });
}

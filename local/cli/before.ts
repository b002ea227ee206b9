import { executionName } from '../../functions/core/naming.ts';
import { type Command, jsonOption, readOptions, UsageError } from './command.ts';
import { readJsonFile } from './files.ts';
import { readRequestFile, requestOption } from './fleet-request.ts';
import { machineOption, readMachineArn } from './machine-option.ts';
import { runMachine } from './run-machine.ts';

const options = {
  machine: machineOption('BeforeDeploy'),
  request: requestOption,
  name: {
    type: 'string',
    value: 'NAME',
    about:
      "The execution's name. Unless given it follows from the runId, so that a second start joins the first.",
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (RunReport in local/cli/run-machine.ts) at the end and nothing else.',
  },
} as const;

export const beforeCommand: Command = {
  name: 'before',
  about:
    'Starts before-deploy for a request, or joins the execution when it was started already, and follows it to the go-ahead. Ctrl-C leaves the execution running and says how to follow it again.',
  options,
  examples: [
    'quiesce before --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-BeforeDeploy --request request.json',
  ],
  endsWith: {
    ok: 'The go-ahead is given: the deployment may begin.',
    failed: 'The run was refused or failed, and what it did is undone: the error and its sentence are shown.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values } = readOptions('before', options, args);
  const machineArn = readMachineArn('BeforeDeploy', values.machine);
  const { request: file } = values;
  if (file === undefined) throw new UsageError('Give the request: --request FILE, or - for standard input.');
  const given = readJsonFile(file);
  const { runId } = readRequestFile(given);
  return runMachine({
    runId,
    machineArn,
    name: values.name ?? executionName('before', runId),
    input: Object(given.value),
    json: values.json,
    begins: `Run ${runId} is brought to its go-ahead`,
    again: `npx quiesce before --machine ${machineArn} --request ${file}${values.name ? ` --name ${values.name}` : ''}${file === '-' ? ' (with the same request)' : ''}`,
    succeeded: `Go-ahead. Deploy now, and then, with the stack's output AfterDeployArn: npx quiesce after --machine ARN --run ${runId}`,
    confirm: executionName('before', runId, String(Date.now())),
  });
}

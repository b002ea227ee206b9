import { executionArn } from '../../functions/core/aws/step-functions.ts';
import { shellLine } from '../../functions/core/domain/aws-cli.ts';
import { executionName } from '../../functions/core/naming.ts';
import { describeAdoption, tellAdoption } from './adoption-report.ts';
import { adoptionOptions, readAdoption } from './adoption-request.ts';
import { type Command, exitCode, jsonOption, readOptions } from './command.ts';
import { document } from './format.ts';
import { machineOption, nameOption, readMachineArn } from './machine-option.ts';
import { attend, sayBeginning, startOrJoin } from './run-machine.ts';

const options = {
  machine: machineOption('PromoteCheck'),
  ...adoptionOptions,
  name: nameOption,
  json: {
    ...jsonOption,
    about:
      'Print one JSON document (AdoptionTold in local/cli/adoption-report.ts) at the end and nothing else.',
  },
} as const;

export const adoptCommand: Command = {
  name: 'adopt',
  about:
    'Adopts an application status check: starts promote-check and follows it. The check is excluded until every instance of the group has passed it, then included and watched. Ctrl-C leaves the execution running and says how to follow it again.',
  options,
  examples: [
    'quiesce adopt --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-PromoteCheck --auto-scaling-group web --protocol http --port 8080 --path /live --grace-seconds 120',
    'quiesce adopt --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-PromoteCheck --request adoption.yaml --watch-seconds 1800',
  ],
  endsWith: {
    ok: 'The check is included, and has done no harm.',
    failed:
      'It was refused, not proven or demoted, and what was done is undone: the error and its sentence are shown.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values } = readOptions('adopt', options, args);
  const { machine, json, name: given, ...asked } = values;
  const machineArn = readMachineArn('PromoteCheck', machine);
  const { input, request } = readAdoption(asked);
  const group = request.autoScalingGroupName;
  const name = given ?? executionName('adopt', group, String(Date.now()));
  const arn = executionArn(machineArn, name);
  const joined = await startOrJoin({ machineArn, name, input }, arn);
  const again = shellLine([
    'npx',
    'quiesce',
    'adopt',
    ...args,
    ...(given === undefined ? ['--name', name] : []),
  ]);
  sayBeginning({ name, json, begins: `The adoption of a check by ${group} begins` }, joined, arn);
  const { events } = await attend({ runId: group, name, again, json }, arn);
  const told = tellAdoption({ executionArn: arn, autoScalingGroupName: group, events, now: Date.now() });
  process.stdout.write(json ? document(told) : `\n${describeAdoption(told)}`);
  return told.status === 'SUCCEEDED' ? exitCode.ok : exitCode.failed;
}

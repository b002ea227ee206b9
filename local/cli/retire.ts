import { executionArn } from '../../functions/core/aws/step-functions.ts';
import { shellLine } from '../../functions/core/domain/aws-cli.ts';
import { readOrFaults, sentenceOf } from '../../functions/core/faults.ts';
import { executionName } from '../../functions/core/naming.ts';
import { retirementRequest, subjectOf } from '../../functions/core/retirement-request.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { document } from './format.ts';
import { machineOption, nameOption, readMachineArn } from './machine-option.ts';
import { describeRetirement, tellRetirement, whatIsWaitedFor } from './retirement-report.ts';
import { attend, sayBeginning, startOrJoin } from './run-machine.ts';

const options = {
  machine: machineOption('RetireCheck'),
  'security-groups': {
    type: 'string',
    value: 'ID,ID...',
    about:
      'Security groups to delete besides those that carry the tag quiesce-delete-when-free; each has to carry the opt-in tag.',
  },
  'limit-seconds': {
    type: 'string',
    value: 'N',
    about: 'How long what lingers, or holds a group, is waited for; 10800 unless given.',
  },
  'keep-check': {
    type: 'boolean',
    default: false,
    about: 'Retire only what the check does not need any more.',
  },
  name: nameOption,
  json: {
    ...jsonOption,
    about:
      'Print one JSON document (RetirementTold in local/cli/retirement-report.ts) at the end and nothing else.',
  },
} as const;

export const retireCommand: Command = {
  name: 'retire',
  about:
    'Retires an application status check: starts retire-check and follows it. The check is deleted, the interfaces that AWS leaves behind are waited out, and its security groups deleted last. Ctrl-C leaves the execution running and says how to follow it again.',
  operands: '[CHECK]',
  operandsAbout: 'The id of the check; without it the security groups alone are retired.',
  operandChoices: [],
  options,
  examples: [
    'quiesce retire asc-0123456789abcdef0',
    'quiesce retire asc-0123456789abcdef0 --security-groups sg-0123456789abcdef0 --limit-seconds 7200',
  ],
  endsWith: {
    ok: 'The check, its interfaces and the groups are gone.',
    failed: 'It was refused, or something is left at the limit: the error names what is in the way.',
  },
  run,
};

/** The flag, or operand, that gives each member of the request. */
const FLAGS: Readonly<Record<string, string>> = {
  checkId: 'CHECK',
  securityGroupIds: '--security-groups',
  limitSeconds: '--limit-seconds',
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('retire', options, args, true);
  const [checkId, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Name one check, or none: see quiesce retire --help.');
  const { 'security-groups': groups, 'limit-seconds': limit, 'keep-check': keepCheck } = values;
  const input = {
    ...(checkId !== undefined && { checkId }),
    ...(groups !== undefined && { securityGroupIds: groups.split(',').map(id => id.trim()) }),
    ...(limit !== undefined && { limitSeconds: /^\d+$/.test(limit) ? Number(limit) : limit }),
    ...(keepCheck && { keepCheck }),
  };
  const read = readOrFaults(retirementRequest, input);
  if (read.faults)
    throw new UsageError(
      read.faults
        .map(fault => {
          const [member = '', ...rest] = fault.path;
          return sentenceOf(
            { ...fault, path: member === '' ? [] : [FLAGS[String(member)] ?? member, ...rest] },
            'quiesce retire',
          );
        })
        .join('\n'),
    );
  const machineArn = readMachineArn('RetireCheck', values.machine);
  const subject = subjectOf(read.data);
  const name = values.name ?? executionName('retire', subject, String(Date.now()));
  const arn = executionArn(machineArn, name);
  const joined = await startOrJoin({ machineArn, name, input }, arn);
  const { json } = values;
  sayBeginning({ name, json, begins: `The retirement of ${subject} begins` }, joined, arn);
  const ofName = values.name === undefined ? ['--name', name] : [];
  const again = shellLine(['npx', 'quiesce', 'retire', ...args, ...ofName]);
  const { events } = await attend({ runId: subject, name, again, json, tell: whatIsWaitedFor() }, arn);
  const told = tellRetirement({ subject, executionArn: arn, events, joined, now: Date.now() });
  process.stdout.write(json ? document(told) : describeRetirement(told));
  return told.status === 'SUCCEEDED' ? exitCode.ok : exitCode.failed;
}

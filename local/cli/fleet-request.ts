import { readOrFaults, sentenceOf } from '../../functions/core/faults.ts';
import { type RunRequest, readRequest, runRequest } from '../../functions/core/request.ts';
import { locateFaults } from '../located-faults.ts';
import { UsageError } from './command.ts';
import { type ReadFile, readJsonFile } from './files.ts';

export const requestOption = {
  type: 'string',
  value: 'FILE',
  file: true,
  about: "The input of before-deploy as JSON: a file's name, or - for standard input.",
} as const;

/** How the fleet of a plan is named: one of them. */
export const fleetOptions = {
  request: requestOption,
  instances: {
    type: 'string',
    value: 'ID,ID',
    about: 'The instances with these ids, instead of a request.',
  },
  'auto-scaling-group': {
    type: 'string',
    value: 'NAME',
    about: 'The instances of this Auto Scaling group, instead of a request.',
  },
  deployment: {
    type: 'string',
    value: 'ID',
    about: 'The instances of this CodeDeploy deployment, instead of a request.',
  },
  traffic: {
    type: 'string',
    value: 'drain|leave',
    choices: ['drain', 'leave'],
    about: 'Who moves the traffic: Quiesce (drain, the default), or CodeDeploy or somebody else (leave).',
  },
} as const;

type FleetOption = Exclude<keyof typeof fleetOptions, 'traffic'>;

export type FleetValues = Readonly<Partial<Record<keyof typeof fleetOptions, string>>>;

/** What stands for the run when only its fleet is named. */
const PLANNED_RUN = 'plan';

/** A request as it was given, which can be used, before a stack's defaults are put below it. */
export type GivenRequest = object;

/** @throws UsageError unless exactly one of the options names a fleet that can be read */
export function readFleetRequest(values: FleetValues): GivenRequest {
  const names: readonly FleetOption[] = ['request', 'instances', 'auto-scaling-group', 'deployment'];
  const given = names.filter(name => values[name] !== undefined);
  const [option] = given;
  if (given.length !== 1 || option === undefined)
    throw new UsageError(`Name the fleet by one of ${names.map(name => `--${name}`).join(', ')}.`);
  const value = values[option] ?? '';
  const traffic = values.traffic === undefined ? {} : { traffic: values.traffic };
  if (option === 'request') return givenIn(readJsonFile(value), traffic);
  const request = { runId: PLANNED_RUN, fleet: fleetOf(option, value), ...traffic };
  const read = readOrFaults(runRequest, request);
  if (!read.faults) return request;
  const faults = read.faults.map(({ path: [member], message }) =>
    sentenceOf({ path: [member === 'fleet' ? `--${option}` : `--${String(member)}`], message }, ''),
  );
  throw new UsageError(faults.join('\n'));
}

/** @throws UsageError that names each line and field */
export function readRequestFile(file: ReadFile): RunRequest {
  return readRequest(runRequest, givenIn(file, {}));
}

/** @param besides members that a flag gives. @throws UsageError that names each line and field */
export function givenIn({ name, text, value }: ReadFile, besides: object): GivenRequest {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const request = isObject ? { ...value, ...besides } : value;
  const { faults } = readOrFaults(runRequest, request);
  if (faults) throw new UsageError(locateFaults(text, name, faults, 'the request').join('\n'));
  return Object(request);
}

function fleetOf(option: Exclude<FleetOption, 'request'>, value: string): object {
  switch (option) {
    case 'instances':
      return { instanceIds: value.split(',').map(id => id.trim()) };
    case 'auto-scaling-group':
      return { autoScalingGroupName: value };
    case 'deployment':
      return { codeDeployDeploymentId: value };
  }
}

import { type AdoptionRequest, adoptionRequest } from '../../functions/core/adoption-request.ts';
import { type Fault, readOrFaults, sentenceOf } from '../../functions/core/faults.ts';
import { locateFaults } from '../located-faults.ts';
import { UsageError } from './command.ts';
import { type ReadFile, readYamlFile } from './files.ts';

/** One flag a member of the request, named as it is; where a file has it too, the flag counts. */
export const adoptionOptions = {
  request: {
    type: 'string',
    value: 'FILE',
    file: true,
    about: "The input of promote-check as YAML or JSON: a file's name, or - for standard input.",
  },
  'auto-scaling-group': { type: 'string', value: 'NAME', about: 'The group that adopts the check.' },
  check: { type: 'string', value: 'ID', about: 'A check that exists; otherwise one is created.' },
  protocol: {
    type: 'string',
    value: 'http|https',
    choices: ['http', 'https'],
    about: 'Of a check to create.',
  },
  port: { type: 'string', value: 'N', about: 'Of a check to create.' },
  path: { type: 'string', value: 'PATH', about: 'Of a check to create; / unless given.' },
  matcher: { type: 'string', value: 'CODES', about: 'Codes that count as success; 200 unless given.' },
  'timeout-seconds': {
    type: 'string',
    value: 'N',
    about: 'How long it waits for an answer; 6 unless given.',
  },
  'failure-threshold': { type: 'string', value: 'N', about: 'Failures until it has failed; 2 unless given.' },
  'success-threshold': {
    type: 'string',
    value: 'N',
    about: 'Successes until it has passed; 2 unless given.',
  },
  'grace-seconds': {
    type: 'string',
    value: 'N',
    about: 'Counted from the launch of an instance, longer than its start-up; 300 unless given.',
  },
  sample: {
    type: 'string',
    value: 'N',
    about: 'How many instances are observed first; one a zone unless given.',
  },
  evaluations: {
    type: 'string',
    value: 'N',
    about: 'Evaluations in a row that each has to pass; 2 unless given.',
  },
  'observe-seconds': {
    type: 'string',
    value: 'N',
    about: 'Least time of each observation; 900 unless given.',
  },
  'watch-seconds': {
    type: 'string',
    value: 'N',
    about: 'How long it is watched once included; 600 unless given.',
  },
  'impaired-percent': {
    type: 'string',
    value: 'N',
    about: 'More impaired instances than this demote it; 10 unless given.',
  },
} as const;

type Flag = Exclude<keyof typeof adoptionOptions, 'request'>;
export type AdoptionValues = Readonly<Partial<Record<keyof typeof adoptionOptions, string>>>;

/** The member of the request that each flag gives. */
const MEMBERS: Readonly<Record<Flag, readonly [string] | readonly ['check', string]>> = {
  'auto-scaling-group': ['autoScalingGroupName'],
  check: ['check', 'id'],
  protocol: ['check', 'protocol'],
  port: ['check', 'port'],
  path: ['check', 'path'],
  matcher: ['check', 'matcher'],
  'timeout-seconds': ['check', 'timeoutSeconds'],
  'failure-threshold': ['check', 'failureThreshold'],
  'success-threshold': ['check', 'successThreshold'],
  'grace-seconds': ['check', 'graceSeconds'],
  sample: ['sample'],
  evaluations: ['evaluations'],
  'observe-seconds': ['observeSeconds'],
  'watch-seconds': ['watchSeconds'],
  'impaired-percent': ['impairedPercent'],
};

const TEXTS: ReadonlySet<string> = new Set(['auto-scaling-group', 'check', 'protocol', 'path', 'matcher']);

/** What promote-check is started with, and how it is read. @throws UsageError that names each flag, or line and field */
export function readAdoption(values: AdoptionValues): {
  readonly input: object;
  readonly request: AdoptionRequest;
} {
  const file = values.request === undefined ? undefined : readYamlFile(values.request);
  const flags = flagsIn(values);
  const given = { ...Object(file?.value) };
  for (const [flag, value] of flags) {
    const [member, ofCheck] = MEMBERS[flag];
    given[member] = ofCheck === undefined ? value : { ...given[member], [ofCheck]: value };
  }
  if (!file && given.check === undefined)
    throw new UsageError('Name the check: --check ID, or --protocol and --port of one to create.');
  const made = [...flags.keys()]
    .filter(flag => flag !== 'check' && MEMBERS[flag][0] === 'check')
    .map(flag => `--${flag}`);
  if (Object(given.check).id !== undefined && made.length > 0)
    throw new UsageError(
      `${made.join(', ')} ${made.length === 1 ? 'belongs' : 'belong'} to a check to create, and one that exists is named: leave out --check or ${made.join(', ')}.`,
    );
  const read = readOrFaults(adoptionRequest, file && !isObject(file.value) ? file.value : given);
  if (read.faults) throw new UsageError(sentences(read.faults, new Set(flags.keys()), file).join('\n'));
  return { input: given, request: read.data };
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function flagsIn(values: AdoptionValues): Map<Flag, string | number> {
  const names = Object.keys(MEMBERS) as Flag[];
  return new Map(
    names.flatMap(name => {
      const value = values[name];
      if (value === undefined) return [];
      return [[name, !TEXTS.has(name) && /^\d+$/.test(value) ? Number(value) : value] as const];
    }),
  );
}

/** A fault of what a flag gives, or of what a flag could give where there is no file, is told by its flag. */
function sentences(faults: readonly Fault[], flags: ReadonlySet<Flag>, file: ReadFile | undefined): string[] {
  const flagOf = ({ path }: Fault) =>
    (Object.keys(MEMBERS) as Flag[]).find(
      flag => MEMBERS[flag].join('.') === path.join('.') && (!file || flags.has(flag)),
    );
  const byFlag = faults.flatMap(fault => {
    const flag = flagOf(fault);
    return flag ? [sentenceOf({ ...fault, path: [`--${flag}`] }, '')] : [];
  });
  const others = faults.filter(fault => flagOf(fault) === undefined);
  const rest = file
    ? locateFaults(file.text, file.name, others, 'the request')
    : others.map(fault => sentenceOf(fault, 'the request'));
  return [...byFlag, ...rest];
}

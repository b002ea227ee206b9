import type { Call, Gate } from '../wire/contract.ts';
import { ServiceError } from '../wire/contract.ts';

type Input = Readonly<Record<string, unknown>>;
type Around = NonNullable<Gate['around']>;

const REASON = 'Internal error';

const list = (given: unknown): readonly unknown[] => (Array.isArray(given) ? given : []);

/** EC2 answers 200 and names, among the unsuccessful results, what it did not do. */
const suppression: Around = async (_call, input, perform) => {
  const all = list(input.InstanceIds);
  const last = all.at(-1);
  const UnsuccessfulResults = [{ InstanceId: last, Reason: REASON }];
  if (all.length === 1) return { SuccessfulResults: [], UnsuccessfulResults };
  const answer = await perform({ ...input, InstanceIds: all.slice(0, -1) });
  return { ...answer, UnsuccessfulResults };
};

/** Elastic Load Balancing refuses a whole batch for one target that it does not take. */
const targets: Around = async (_call, input, _perform) => {
  const [bad] = list(input.Targets).slice(-1) as { readonly Id?: string }[];
  throw new ServiceError('InvalidTarget', `The following targets are not valid: '${bad?.Id}'`);
};

/** DynamoDB answers with the keys that it did not get to. */
const batchGet: Around = async (_call, input, perform) => {
  const [[table, asked] = []] = Object.entries(input.RequestItems ?? {}) as [string, { Keys: unknown[] }][];
  if (table === undefined || asked === undefined || asked.Keys.length < 2) return perform(input);
  const left = { ...asked, Keys: asked.Keys.slice(-1) };
  const done = { ...asked, Keys: asked.Keys.slice(0, -1) };
  const answer = await perform({ ...input, RequestItems: { [table]: done } });
  return { ...answer, UnprocessedKeys: { [table]: left } };
};

const PARTIAL: ReadonlyMap<string, Around> = new Map([
  ['ec2:EnableApplicationStatusCheckSuppression', suppression],
  ['ec2:DisableApplicationStatusCheckSuppression', suppression],
  ['elasticloadbalancing:RegisterTargets', targets],
  ['elasticloadbalancing:DeregisterTargets', targets],
  ['dynamodb:BatchGetItem', batchGet],
]);

/** Is this an action that can do a part of what it was asked for? */
export const isBatch = (action: string): boolean => PARTIAL.has(action);

/** Does all of a batch but its last member, as the service itself says so. */
export function partially(
  call: Call,
  input: Input,
  perform: (input: Input) => Promise<object>,
): Promise<object> {
  const around = PARTIAL.get(`${call.service}:${call.action}`);
  if (!around) throw new Error(`${call.service}:${call.action} has no batch of which a part could fail`);
  return around(call, input, perform);
}

import { type Call, type Gate, ServiceError } from '../../../local/wire/contract.ts';
import { type Adopting, adopting, unchecked } from './adopting.ts';

const MINUTE = 60_000;
export const parameters = { NotificationTopic: 'create', LoopBreaker: 'demote' };

export const told = ({ bracket }: Adopting) =>
  bracket.stack.topics.published.filter(({ subject }) => subject.startsWith('Quiesce: check '));
export const subjects = (group: Adopting) =>
  told(group).map(({ subject }) => subject.replace(/ asc-\w+/, ''));
export const DEMOTED = 'Quiesce: check is demoted before it has more instances replaced';

/** A check that a person has included on the whole group, without any evidence, a while ago. */
export async function included(fleet: object = {}, settings: object = { parameters }): Promise<Adopting> {
  const group = await adopting(settings, { ...unchecked, ...fleet });
  group.createCheckOnGroup();
  group.include();
  await group.bracket.clock.pass(10 * MINUTE);
  return group;
}

/** What this action answers the loop breaker, until `heal`. */
export function failing(action: string): { readonly gates: () => Gate[]; readonly heal: () => void } {
  let fails = true;
  const before = (call: Call) => {
    if (fails && call.action === action && call.caller.name === 'BreakLoopsFunction')
      throw new ServiceError('UnauthorizedOperation', 'no');
  };
  return { gates: () => [{ before }], heal: () => (fails = false) };
}

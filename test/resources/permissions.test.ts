import { expect, test } from 'vitest';
import { stopAt } from '../sweep/helpers/stopped.ts';
import { unneededBy } from '../template/helpers/role-groups.ts';
import { customResources, hasty, stacks } from './helpers/stacks.ts';

test('D18: what serves other stacks may do all that it does, and nothing else', async () => {
  const team = await stacks({ physics: { interfaceLingerMinutes: [20, 20] } });
  const { stack } = team.bracket;
  expect(unneededBy('resources', stack)).not.toEqual([]);
  const example = team.stack();
  await team.run(example.create(team.example(hasty(600))));
  await team.run(example.delete());
  const named = team.stack('named');
  const instances = { CheckId: team.createCheck(), InstanceIds: team.bracket.ids() };
  const stopped = stopAt(team.bracket, 'ServeResource', 'WaitForMore', 1);
  await team.run(named.create(customResources({ Association: instances })));
  await stopped;
  // No request at all: after Lambda's attempts it is kept in the queue.
  stack.invokeLater(stack.template.functions.get('CustomResourceFunction')?.name ?? '', {
    RequestType: 'Create',
  });
  await team.bracket.clock.pass(300_000);
  expect(stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied'))).toEqual([]);
  // What the clean-up needs is seen where it has something to undo.
  expect(unneededBy('resources', stack).filter(one => !one.startsWith('CleanUp'))).toEqual([]);
});

import { expect, test } from 'vitest';
import { ACT_TIMEOUT_SECONDS, MACHINE_TIMEOUT_SECONDS } from '../../functions/core/limits.ts';
import type { DeployedTemplate } from '../../local/stack/deployed-template.ts';
import type { JsonObject } from '../../local/stack/json.ts';
import {
  brokenDefinition,
  brokenTemplate,
  everyMachine,
  fencedMachines,
  product,
  undoingMachines,
} from './helpers/product.ts';
import { statesOf, tasksOf } from './helpers/states.ts';

const longFunctions = ({ functions }: DeployedTemplate): readonly string[] =>
  [...functions.values()]
    .filter(({ timeoutSeconds }) => timeoutSeconds > ACT_TIMEOUT_SECONDS)
    .map(({ logicalId, timeoutSeconds }) => `${logicalId} may run ${timeoutSeconds} s`);

/** A task that gives up first reports States.Timeout while its function still acts. */
const impatientTasks = (definition: JsonObject): readonly string[] =>
  tasksOf(definition)
    .filter(([, { TimeoutSeconds }]) => !(Number(TimeoutSeconds) > ACT_TIMEOUT_SECONDS))
    .map(([name]) => name);

test('D5: every function ends within the time that an undo waits for', () => {
  expect(longFunctions(product)).toEqual([]);
  const { read } = brokenTemplate('Description: Undoes what a fenced run has done.', 'Timeout: 61');
  expect(longFunctions(read())).toEqual(['UndoFunction may run 61 s']);
});

test.each(undoingMachines)('D5: %s waits longer than the longest act before it undoes', (_, definition) => {
  expect(statesOf(definition).get('LetActsEnd')?.Seconds).toBeGreaterThan(ACT_TIMEOUT_SECONDS);
});

test.each(everyMachine)(
  'R-TIMEOUT: every task of %s has a TimeoutSeconds, longer than a function may run',
  (_, definition) => {
    expect(impatientTasks(definition)).toEqual([]);
    for (const replacement of ['', '"TimeoutSeconds":60,'])
      expect(impatientTasks(brokenDefinition(definition, '"TimeoutSeconds":70,', replacement))).toHaveLength(
        1,
      );
  },
);

test.each(fencedMachines)(
  'D15: the literal TimeoutSeconds of %s is the one that plans reckon with',
  (_, definition) => {
    expect(definition.TimeoutSeconds).toBe(MACHINE_TIMEOUT_SECONDS);
  },
);

const openings = everyMachine.flatMap(([name, definition]) =>
  tasksOf(definition).flatMap(([, { Arguments }]) => {
    const { Payload = {} } = Arguments as { readonly Payload?: { readonly openedAt?: string } };
    return Payload.openedAt === undefined ? [] : [[name, Payload.openedAt] as const];
  }),
);

test('R-HOOK: the time of a lifecycle hook is counted from its event, however late that is heard', () => {
  const fromEvent = '{% $states.context.Execution.Input.time %}';
  expect(openings).toEqual([
    ['InstanceLaunch', fromEvent],
    ['InstanceTermination', fromEvent],
  ]);
});

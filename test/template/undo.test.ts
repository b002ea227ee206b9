import { expect, test } from 'vitest';
import { isList, type JsonObject } from '../../local/stack/json.ts';
import { attendingMachines, brokenDefinition, fencedMachines, machines } from './helpers/product.ts';
import { object } from './helpers/states.ts';

/** The states of the machine itself without its body: what follows a failure. */
function tailOf({ StartAt, States }: JsonObject): JsonObject {
  const { [String(StartAt)]: _, ...tail } = object(States);
  return tail;
}

/** Does every error of the body, those in Choice and Wait states included, lead to this state? */
function isCaughtTo(next: string, { StartAt, States }: JsonObject): boolean {
  const { Type, Branches, Catch } = object(object(States)[String(StartAt)]);
  const [catcher, ...others] = isList(Catch) ? Catch.map(object) : [];
  return (
    Type === 'Parallel' &&
    isList(Branches) &&
    Branches.length === 1 &&
    others.length === 0 &&
    String(catcher?.ErrorEquals) === 'States.ALL' &&
    catcher?.Next === next
  );
}

const endings = (definition: JsonObject): readonly unknown[] =>
  Object.values(tailOf(definition))
    .map(object)
    .filter(({ Type, End }) => Type === 'Fail' || Type === 'Succeed' || End === true)
    .map(({ Type }) => Type);

test.each(fencedMachines)(
  'D15: the body of %s is one Parallel of one branch, caught to the fence',
  (_, definition) => {
    expect(isCaughtTo('Fence', definition)).toBe(true);
    const caught = '"ErrorEquals":["States.ALL"],"Assign":{"failure"';
    const narrower = caught.replace('States.ALL', 'States.TaskFailed');
    expect(isCaughtTo('Fence', brokenDefinition(definition, caught, narrower))).toBe(false);
    expect(isCaughtTo('Fence', brokenDefinition(definition, '"Next":"Fence"', '"Next":"EndFailed"'))).toBe(
      false,
    );
  },
);

test.each(attendingMachines)('D1, D15: whatever goes wrong in %s, the instance goes on', (_, definition) => {
  expect(isCaughtTo('Resolve', definition)).toBe(true);
  const { Resolve, EndFailed } = object(tailOf(definition));
  expect(object(Resolve)).toMatchObject({ Type: 'Task', Next: 'EndFailed' });
  expect(object(EndFailed)).toMatchObject({ Type: 'Fail', Error: '{% $failure.Error %}' });
});

test('D5: every machine of a run undoes in the same way', () => {
  const [first, ...others] = machines.map(([, definition]) => definition);
  if (!first) throw new Error('the template has no machine');
  for (const other of others) expect(tailOf(other)).toEqual(tailOf(first));
  const broken = brokenDefinition(first, '"Next":"LetActsEnd"', '"Next":"Undo"');
  expect(tailOf(broken)).not.toEqual(tailOf(first));
});

test.each([...fencedMachines, ...attendingMachines])(
  'R-FAIL: after a failure %s can only end as failed',
  (_, definition) => {
    expect(endings(definition)).toEqual(['Fail']);
    expect(endings(brokenDefinition(definition, '"Type":"Fail"', '"Type":"Succeed"'))).toEqual(['Succeed']);
  },
);

import { expect, test } from 'vitest';
import { Progress } from '../../local/cli/progress.ts';
import { readScenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';

/** What a person who follows is shown, with ids made alike. */
async function followed(name: string, parameters: Readonly<Record<string, string>>): Promise<string[]> {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line.replaceAll(/\b(asc|i)-[0-9a-f]{17}\b/g, '$1-'));
  const { hear, begun } = new Progress({ terminal: undefined, print }, name);
  await simulate({ scenario: readScenario(`scenarios/${name}.yaml`), hear, begun, parameters });
  return lines.map(line => line.replace(/^\+[\d:]+ +/, ''));
}

test('what people do, what is demoted, which alarms ring and what people are told is a line each', async () => {
  expect(await followed('loop-closed', { NotificationTopic: 'create' })).toEqual([
    'people      close security group',
    'check       excluded     asc-',
    'people      are told     Quiesce: check asc- is demoted before it has more instances replaced',
    'Quiesce     announces    Loop Broken: asc-',
    'alarm       rings        LoopBrokenAlarm',
    'people      are told     ALARM: "quiesce-LoopBrokenAlarm" in eu-west-1',
  ]);
});

test('what the loop breaker only observes is a line, also where there is no topic', async () => {
  const lines = await followed('loop-observed', {});
  expect(lines.filter(line => !line.startsWith('people'))).toEqual([
    'Quiesce     announces    Loop Observed: asc-',
    'alarm       rings        LoopBrokenAlarm',
    'Quiesce     announces    Loop Over: asc-',
  ]);
});

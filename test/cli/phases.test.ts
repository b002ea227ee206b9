import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Happening } from '../../local/account/journal.ts';
import { Timeline, turns } from '../../local/cli/phases.ts';

test('every state that turns a phase is a state of the machines', () => {
  const machines = ['before-deploy', 'after-deploy', 'promote-check', 'retire-check']
    .map(name => readFileSync(`statemachines/${name}.asl.yaml`, 'utf8'))
    .join('\n');
  for (const state of turns.keys()) expect(machines).toMatch(new RegExp(`^ +${state}:$`, 'm'));
});

test('runs at the same time keep their phases apart, and a phase that is begun again is told twice', () => {
  const timeline = new Timeline();
  let at = 0;
  const hear = (happening: Happening) => timeline.hear({ ...happening, at: at++ });
  const batch = (runId: string) =>
    hear({ type: 'deployment', state: 'batch', instanceIds: [`i-${runId}`], detail: runId });
  const enter = (runId: string, state: string) =>
    hear({ type: 'state-entered', executionArn: `arn:x:before-${runId}`, machine: 'before-deploy', state });

  batch('one');
  batch('two');
  enter('one', 'Lead');
  enter('two', 'WaitForTurn');
  enter('one', 'LeadOver');
  enter('one', 'ObserveBoth');
  // The joint observation was not met: the run goes back to its goals.
  enter('one', 'Suppress');
  enter('one', 'Lead');

  expect(timeline.run('one')?.phases).toEqual([
    { name: 'suppressing', began: 2, ended: 4 },
    { name: 'go-ahead', began: 5, ended: 6 },
    { name: 'suppressing', began: 7, ended: undefined },
  ]);
  expect(timeline.open.map(({ runId, phases }) => [runId, phases[0]?.name])).toEqual([
    ['one', 'suppressing'],
    ['two', 'queued'],
  ]);
});

import { describe, expect, test } from 'vitest';
import type { StackSettings } from '../../local/stack/deploy.ts';
import { hookedDeployment } from './helpers/lifecycle-hooks.ts';
import { deployed, executionsOf, throughCodeDeploy } from './helpers/through-code-deploy.ts';

type Deliveries = NonNullable<StackSettings['deliveries']>;

/** The schedule is not an event that somebody sends: it is what finds what events have missed. */
const ofEvents =
  (deliveries: Deliveries): Deliveries =>
  (event, rule) =>
    event['detail-type'] === 'Scheduled Event' ? [500] : deliveries(event, rule);

/** Every second event overtakes the one before it. */
function outOfOrder(): Deliveries {
  let count = 0;
  return () => [count++ % 2 === 0 ? 240_000 : 500];
}

/** How events can reach the functions. */
const ways: readonly (readonly [string, () => Deliveries])[] = [
  ['once', () => () => [500]],
  ['twice', () => () => [500, 700]],
  ['ten minutes late', () => () => [600_000]],
  ['again after five minutes', () => () => [500, 300_000]],
  ['not at all', () => () => []],
  ['out of order', outOfOrder],
];

describe.each(ways)('R-NEWER, R-IDEMP: when events arrive %s', (_, deliveries) => {
  const delivering = () => ({ deliveries: ofEvents(deliveries()) });

  test('hooks of a deployment to ECS are answered, and the bracket is closed', async () => {
    const { deployment, answers, violations } = await hookedDeployment(delivering());
    expect(deployment.status).toBe('Succeeded');
    expect(answers).toEqual(['Succeeded', 'Succeeded']);
    expect(violations).toEqual([]);
  });

  test('a deployment that is stopped leaves nothing behind, and is undone once', async () => {
    const events = [{ after: 'Lead', atSeconds: 20, do: 'stop-deployment' }];
    const all = await deployed({
      scenario: throughCodeDeploy({}, { events }, { instances: 2 }),
      ...delivering(),
    });
    expect(all.deployments.map(({ status }) => status)).toEqual(['Stopped']);
    expect(executionsOf(all, 'UndoRun').map(({ error }) => error)).toEqual(['DeploymentEnded']);
    expect(all.violations).toEqual([]);
  });

  test('an execution that is stopped while it undoes is taken over, once', async () => {
    const events = [
      { after: 'Lead', atSeconds: 20, do: 'stop-deployment' },
      { after: 'LetActsEnd', atSeconds: 1, do: 'stop-execution' },
    ];
    const all = await deployed({
      scenario: throughCodeDeploy({}, { events }, { instances: 2 }),
      ...delivering(),
    });
    expect(executionsOf(all, 'UndoRun').map(({ status }) => status)).toEqual(['ABORTED', 'FAILED']);
    expect(all.violations).toEqual([]);
  });

  test('a deployment that goes through is let through', async () => {
    const all = await deployed({ scenario: throughCodeDeploy({}, {}, { instances: 2 }), ...delivering() });
    expect(all.deployments.map(({ status }) => status)).toEqual(['Succeeded']);
    expect(executionsOf(all, 'UndoRun')).toEqual([]);
    expect(all.violations).toEqual([]);
  });
});

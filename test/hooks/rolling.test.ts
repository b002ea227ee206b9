import { describe, expect, it } from 'vitest';
import { readScenario } from '../../local/simulate/scenario.ts';
import { deployed, executionsOf, throughCodeDeploy } from './helpers/through-code-deploy.ts';

describe('twelve instances, one at a time', { timeout: 120_000 }, () => {
  const minutes = new Map<string, number>();

  it.each([
    ['codedeploy-instances', 24],
    ['codedeploy-load-balancer', 24],
    ['codedeploy-fleet', 26],
    ['codedeploy-fleet-load-balancer', 2],
  ])('%s: nobody is replaced, no request fails', async (name, executions) => {
    const scenario = readScenario(`scenarios/${name}.yaml`);
    const all = await deployed({ scenario: { ...scenario, fleet: { ...scenario.fleet, instances: 12 } } });
    expect(all.deployment.outcome, all.deployment.cause).toBe('succeeded');
    expect(all.violations).toEqual([]);
    expect(all.measures).toMatchObject({ replaced: 0, requestsFailed: 0 });
    expect(all.errors).toEqual([]);
    // A run an instance with hooks, and one around them: two executions each, and no other.
    expect([...(all.stack?.executions.all() ?? [])]).toHaveLength(executions);
    minutes.set(name, Math.round(all.measures.minutes));
  });

  it('one run over the whole fleet pays for the spreading once', () => {
    console.log('Minutes for twelve instances, one at a time:', Object.fromEntries(minutes));
    const [alone = 0, balanced = 0, around = 0, unhooked = 0] = minutes.values();
    expect(alone / around).toBeGreaterThan(3);
    expect(alone / unhooked).toBeGreaterThan(3);
    expect(balanced / unhooked).toBeGreaterThan(3);
  });
});

it.each([
  ['hooks alone', {}],
  ['a run over the fleet around them', { fleetWide: true }],
])('the shipped script does what is imitated of it: %s', { timeout: 120_000 }, async (_, how) => {
  const scenario = (scripts: string) =>
    throughCodeDeploy({ ...how, scripts, config: 'HalfAtATime' }, {}, { instances: 2 });
  const real = await deployed({ scenario: scenario('real') });
  expect(real.deployment.outcome, real.deployment.cause).toBe('succeeded');
  expect(real.violations).toEqual([]);
  expect(real.measures).toMatchObject({ replaced: 0, requestsFailed: 0 });
  const imitated = await deployed({ scenario: scenario('imitated') });
  const passage = ({ events }: typeof real) => events.map(({ event, status }) => `${event} ${status}`);
  expect(passage(imitated)).toEqual(passage(real));
  expect(executionsOf(imitated, 'Deploy').map(({ name }) => name.split('-')[0])).toEqual(
    executionsOf(real, 'Deploy').map(({ name }) => name.split('-')[0]),
  );
  // Questions come at the same times, but for the seconds that processes take in turn; what is deployed some seconds later
  // may have to wait for the next evaluation, a minute after the one that it has missed.
  expect(Math.abs(imitated.measures.minutes - real.measures.minutes)).toBeLessThan(1.5);
});

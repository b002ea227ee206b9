import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { adoptionRequest } from '../functions/core/adoption-request.ts';
import { afterRequest, readRequest, runRequest } from '../functions/core/request.ts';
import { retirementRequest } from '../functions/core/retirement-request.ts';
import { readScenario } from '../local/simulate/scenario.ts';
import { standUp } from '../local/simulate/simulation.ts';
import type { Stack } from '../local/stack/deploy.ts';
import { compilePattern } from '../local/stack/event-pattern.ts';

const event = (name: string) => JSON.parse(readFileSync(`events/${name}.json`, 'utf8'));

/** Each shipped event of a function, and what it is answered in an account that knows nothing of it. */
const answers = {
  'hook-gate': { function: 'HookFunction', answer: { statusCode: 403 } },
  'lifecycle-hook': { function: 'LifecycleHookFunction', error: 'DeploymentUnknown' },
  'execution-ended': { function: 'SettleFunction', answer: { undoing: [] } },
  'deployment-failed': { function: 'SettleFunction', answer: { undoing: [] } },
  'instance-failed': { function: 'SettleFunction', answer: { undoing: [] } },
  'health-check-log': { function: 'ReadHealthCheckLogFunction', error: 'LogUnreadable' },
  'view-zones': { function: 'ViewZonesFunction', answer: { groups: 1, classes: { well: 1 } } },
  'break-loops': { function: 'BreakLoopsFunction', answer: { demoted: [], observed: [], over: [] } },
  'instance-terminated': { function: 'BreakLoopsFunction', answer: { demoted: [], observed: [], over: [] } },
  'custom-resource': {
    function: 'CustomResourceFunction',
    answer: { requests: ['3d0c4a52-7a3b-4c77-9d6c-0f7d7d2f8b11'] },
  },
  'resource-ended': { function: 'CustomResourceFunction', answer: { requests: [] } },
  'check-alarm': { function: 'BreakLoopsFunction', answer: { demoted: [], observed: [], over: [] } },
  'check-modified': { function: 'BreakLoopsFunction', answer: { demoted: [], observed: [], over: [] } },
  'watch-interfaces': { function: 'WatchInterfacesFunction', answer: { lingering: 0, retiring: [] } },
  'check-deleted': { function: 'WatchInterfacesFunction', answer: { checkId: 'asc-0123456789abcdef0' } },
  'interface-created': {
    function: 'WatchInterfacesFunction',
    answer: { interfaceId: 'eni-0123456789abcdef0' },
  },
  'watch-monitoring': { function: 'WatchMonitoringFunction', answer: { unmonitored: 0 } },
  'begin-alarms': { function: 'BeginAlarmsFunction', answer: { began: true } },
  'instance-launched': { function: 'BeginAlarmsFunction', answer: { began: true } },
  'check-changed': { function: 'BeginAlarmsFunction', answer: { began: true } },
  'alarm-rings': { function: 'TellOfAlarmFunction', answer: { told: true } },
  sweep: { function: 'SweepFunction', answer: { found: {}, healing: [], hooks: { open: 0 } } },
} as const;

const requests = ['before-deploy', 'after-deploy', 'promote-check', 'retire-check'];

/** Each shipped event that starts a machine by itself, and where that ends in an account that has no such group. */
const machines = {
  'instance-launching': 'InstanceLaunch',
  'instance-terminating': 'InstanceTermination',
} as const;

describe('the shipped events', () => {
  let rules: Stack['template']['rules'];

  beforeAll(async () => {
    const { stack } = await standUp({ scenario: readScenario('scenarios/pair.yaml') });
    if (!stack) throw new Error('nothing is deployed');
    rules = stack.template.rules;
  });

  test('are one for each trigger', () => {
    const names = readdirSync('events').map(file => file.replace('.json', ''));
    expect(names.sort()).toEqual([...Object.keys(answers), ...Object.keys(machines), ...requests].sort());
  });

  test('of the machines are requests that they take', () => {
    expect(readRequest(runRequest, event('before-deploy')).runId).toBe('release-42');
    expect(readRequest(afterRequest, event('after-deploy')).runId).toBe('release-42');
    expect(readRequest(adoptionRequest, event('promote-check')).evaluations).toBe(2);
    expect(readRequest(retirementRequest, event('retire-check')).keepCheck).toBe(false);
  });

  test.each(Object.entries(answers))('%s is one that its function understands', async (name, expected) => {
    const { stack, account } = await standUp({ scenario: readScenario('scenarios/pair.yaml') });
    const arn = stack?.template.functions.get(expected.function)?.arn;
    if (!stack || !arn) throw new Error(`the template has no ${expected.function}`);
    const invoked = account.world.clock.runFor(stack.lambda.invoke(arn, event(name)));
    if ('error' in expected) await expect(invoked).rejects.toMatchObject({ error: expected.error });
    else expect(await invoked).toMatchObject(expected.answer);
  });

  test.each(Object.entries(machines))(
    '%s starts its machine, which understands it',
    async (name, machine) => {
      const { stack, account } = await standUp({ scenario: readScenario('scenarios/pair.yaml') });
      stack?.events.put(event(name));
      await account.world.clock.pass(5_000);
      const started = [...(stack?.executions.all() ?? [])].map(execution => [
        execution.machine.name,
        execution.status,
        execution.output,
      ]);
      const output = expect.objectContaining({ verdict: 'left-alone' });
      expect(started).toEqual([[`quiesce-${machine}`, 'SUCCEEDED', output]]);
    },
  );

  const ofRule = { stateMachineArn: 'arn:aws:states:eu-west-1:111122223333:stateMachine:others' };
  const ofLoadBalancing = { userIdentity: { invokedBy: 'elasticloadbalancing.amazonaws.com' } };
  const refused = { errorCode: 'Client.UnauthorizedOperation' };

  test.each([
    ['instance-launching', {}, 1],
    ['instance-launching', { LifecycleHookName: 'somebody-else' }, 0],
    ['instance-terminating', {}, 1],
    ['instance-terminating', { LifecycleHookName: 'somebody-else' }, 0],
    ['execution-ended', {}, 1],
    ['execution-ended', { status: 'SUCCEEDED' }, 1],
    ['execution-ended', { status: 'FAILED' }, 1],
    ['execution-ended', { status: 'TIMED_OUT' }, 1],
    ['execution-ended', { status: 'RUNNING' }, 0],
    ['execution-ended', ofRule, 0],
    ['deployment-failed', {}, 1],
    ['deployment-failed', { state: 'STOP' }, 1],
    ['deployment-failed', { state: 'SUCCESS' }, 1],
    ['deployment-failed', { state: 'START' }, 0],
    ['instance-failed', {}, 1],
    ['instance-failed', { state: 'SUCCESS' }, 1],
    ['instance-failed', { state: 'START' }, 0],
    ['health-check-log', {}, 1],
    ['resource-ended', {}, 1],
    ['check-alarm', {}, 1],
    ['check-alarm', { state: { value: 'OK' } }, 0],
    ['interface-created', {}, 1],
    ['interface-created', ofLoadBalancing, 0],
    ['interface-created', refused, 0],
    ['instance-launched', {}, 1],
    ['check-changed', {}, 1],
    // One for the loop breaker, one for the alarms.
    ['instance-terminated', {}, 2],
    ['check-modified', {}, 2],
    // One for the watch of interfaces, one for the alarms.
    ['check-deleted', {}, 2],
    ['check-deleted', refused, 1],
  ])('%s with %j matches as many of the template’s rules as act on it: %i', (name, detail, count) => {
    const shipped = event(name);
    const happened = { ...shipped, detail: { ...shipped.detail, ...detail } };
    const matching = [...rules.values()].filter(
      ({ trigger }) => trigger.kind === 'pattern' && compilePattern(trigger.pattern, name)(happened),
    );
    expect(matching).toHaveLength(count);
  });
});

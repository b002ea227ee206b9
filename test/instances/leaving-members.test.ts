import { expect, test } from 'vitest';
import { outcome } from '../machine/helpers/bracket.ts';
import { hooked, type Scaled, scaled } from './helpers/launches.ts';

/** A run over the first two instances has its go-ahead; then Auto Scaling ends the first, which another hook keeps for two hours. */
async function losingOne(): Promise<Scaled> {
  const fleet = await scaled(hooked({}, { hooks: {} }));
  fleet.keepTerminations(7200);
  expect(outcome(await fleet.bracket.before())).toBe('SUCCEEDED');
  fleet.replace(fleet.bracket.ids(0)[0] ?? '');
  await fleet.pass(120);
  expect(fleet.path(fleet.bracket.ids(0)[0] ?? '').at(-1)).toBe('Terminating:Wait');
  return fleet;
}

const registered = ({ bracket }: Scaled): string[] =>
  bracket.actsOf('RegisterTargets').flatMap(({ input }) => JSON.stringify(input.Targets));

test('R-GONE: a member that Auto Scaling is ending is put back nowhere, and is not waited for', async () => {
  const fleet = await losingOne();
  const [leaving = '', staying = ''] = fleet.bracket.ids();
  // It does not even answer any more.
  fleet.bracket.standing.account.ec2.instance(leaving)?.application.stop();
  const after = await fleet.bracket.after();
  expect(outcome(after)).toBe('SUCCEEDED');
  expect(registered(fleet).join()).toContain(staying);
  expect(registered(fleet).join()).not.toContain(leaving);
  // It is suppressed no more, should it be retained.
  const released = fleet.bracket.entries('suppression').filter(({ instanceId }) => instanceId === leaving);
  expect(released.at(-1)?.state).toBe('released');
});

test('R-GONE: nor when the run is undone', async () => {
  const fleet = await losingOne();
  const [leaving = ''] = fleet.bracket.ids();
  const after = fleet.bracket.start('AfterDeploy', { runId: 'r' });
  await fleet.pass(10);
  fleet.bracket.stack.executions.stop(after.arn, 'Operator.Stopped', 'by a person');
  await fleet.pass(900);
  expect(registered(fleet).join()).not.toContain(leaving);
  const keys = (await fleet.bracket.ledger()).map(({ pk }) => pk);
  expect(keys).not.toContain(`instance#${leaving}`);
});

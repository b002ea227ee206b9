import { expect, test } from 'vitest';
import { createAccount } from '../../local/account/account.ts';
import { createWorld } from '../../local/account/world.ts';
import { CloudFormation } from '../../local/cloud-formation/cloud-formation.ts';
import type { JsonObject } from '../../local/stack/json.ts';
import { createWire } from '../../local/wire/wire.ts';

type Answer = Readonly<Record<string, unknown>>;

/** A provider that answers as it is told, at once unless `afterMs` says otherwise; with undefined, never. */
function provided(answer: (event: JsonObject) => Answer | undefined, afterMs = 0) {
  const world = createWorld();
  const account = createAccount(world);
  const wire = createWire({ services: account.services, gates: [], clock: world.clock });
  const statuses: number[] = [];
  const put = async (url: string, body: string) => {
    const { protocol, hostname, pathname: path, searchParams } = new URL(url);
    const query = Object.fromEntries(searchParams);
    const request = { method: 'PUT', protocol, hostname, path, query, headers: {}, body };
    statuses.push((await wire.transport().handle(request)).response.statusCode);
  };
  const cloudFormation = new CloudFormation({
    account,
    invoke: (_, event) => {
      const given = answer(event);
      const { StackId, RequestId, LogicalResourceId } = event;
      const whole = {
        Status: 'SUCCESS',
        PhysicalResourceId: 'one',
        StackId,
        RequestId,
        LogicalResourceId,
        ...given,
      };
      if (given) world.clock.after(afterMs, () => void put(String(event.ResponseURL), JSON.stringify(whole)));
    },
  });
  const stack = cloudFormation.stack('tested');
  const run = <T>(work: Promise<T>) => world.clock.runFor(work);
  const asked = () =>
    cloudFormation.custom.requests.map(({ type, event }) =>
      [type, event.PhysicalResourceId].join(' ').trim(),
    );
  return { cloudFormation, stack, run, asked, put, statuses, world };
}

const template = (properties: JsonObject, more: JsonObject = {}) => ({
  text: JSON.stringify({
    Resources: {
      One: { Type: 'Custom::Tested', Properties: { ServiceToken: 'arn', ...properties } },
      ...more,
    },
  }),
});

test('an update that answers another physical id is followed by a Delete of the old one', async () => {
  const { stack, run, asked } = provided(({ ResourceProperties }) => ({
    PhysicalResourceId: String(Object(ResourceProperties).Name),
  }));
  await run(stack.create(template({ Name: 'a' })));
  expect(await run(stack.update(template({ Name: 'a' })))).toBe('UPDATE_COMPLETE');
  expect(await run(stack.update(template({ Name: 'b' })))).toBe('UPDATE_COMPLETE');
  expect(await run(stack.delete())).toBe('DELETE_COMPLETE');
  expect(asked()).toEqual(['Create', 'Update a', 'Delete a', 'Delete b']);
});

test('a failed update is rolled back by an update, and what it had replaced is deleted', async () => {
  const failing = { Two: { Type: 'Custom::Failing', DependsOn: 'One', Properties: { ServiceToken: 'arn' } } };
  const { stack, run, asked } = provided(({ ResourceType, RequestType, ResourceProperties }) =>
    ResourceType === 'Custom::Failing' && RequestType === 'Create'
      ? { Status: 'FAILED', Reason: 'as told', PhysicalResourceId: 'two' }
      : { PhysicalResourceId: String(Object(ResourceProperties).Name ?? 'two') },
  );
  await run(stack.create(template({ Name: 'a' })));
  expect(await run(stack.update(template({ Name: 'b' }, failing)))).toBe('UPDATE_ROLLBACK_COMPLETE');
  expect(asked()).toEqual(['Create', 'Update a', 'Create', 'Update b', 'Delete b', 'Delete two']);
  expect([stack.resources, stack.resource('One').physicalId]).toEqual([['One'], 'a']);
});

test('a creation that is never answered is deleted under a made-up id; an answer that comes too late is a fault', async () => {
  const { stack, run, asked, cloudFormation, world } = provided(() => ({}), 90_000);
  expect(await run(stack.create(template({ ServiceTimeout: 60 })))).toBe('ROLLBACK_FAILED');
  expect(asked()).toEqual(['Create', 'Delete tested-One-1ABCDEFGHIJKL']);
  expect(stack.events[0]?.reason).toContain('did not receive a response');
  await world.clock.pass(120_000);
  expect(cloudFormation.custom.faults).toEqual([
    'Create One was answered too late',
    'Delete One was answered too late',
  ]);
});

test('the first answer wins, one that breaks the rules fails its resource, and a URL lasts two hours', async () => {
  const { stack, run, cloudFormation, put, statuses, world } = provided(() => ({}));
  await run(stack.create(template({})));
  const [request] = cloudFormation.custom.requests;
  const url = String(request?.event.ResponseURL);
  await run(put(url, '{}'));
  await world.clock.pass(7_300_000);
  await run(put(url, '{}'));
  expect([request?.answers.length, statuses, stack.status]).toEqual([2, [200, 200, 403], 'CREATE_COMPLETE']);
  const broken = provided(() => ({ Status: 'FAILED', RequestId: 'another', PhysicalResourceId: '' }));
  await broken.run(broken.stack.create(template({})));
  expect(broken.cloudFormation.custom.faults.slice(0, 3)).toEqual([
    'the answer to Create One: it has no Reason',
    'the answer to Create One: it has no PhysicalResourceId',
    "the answer to Create One: RequestId is not the request's",
  ]);
});

import type { NetworkInterface } from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { placeOf, placesOf, zoneOfNode } from '../../functions/core/logs/places.ts';
import { names, scripted } from './helpers/scripted-account.ts';

const at = (zone: string, addresses: readonly string[], instanceId?: string): NetworkInterface => ({
  AvailabilityZone: zone,
  PrivateIpAddresses: addresses.map(PrivateIpAddress => ({ PrivateIpAddress })),
  ...(instanceId !== undefined && { Attachment: { InstanceId: instanceId } }),
});

/** What is found of the targets, where the account has these interfaces. */
async function located(targets: readonly string[], interfaces: readonly NetworkInterface[]) {
  const { run, asked } = scripted('ec2', {
    DescribeNetworkInterfaces: () => ({ NetworkInterfaces: [...interfaces, { AvailabilityZone: 'a' }] }),
  });
  const places = await run(() => placesOf(targets));
  return { found: targets.map(target => placeOf(places, target)), asked };
}

test('a target is where the interface with its address is, an instance or not', async () => {
  const { found } = await located(
    ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80', '-', '[fd00::1]:80'],
    [at('eu-west-1a', ['10.0.0.9', '10.0.0.1'], 'i-1'), at('eu-west-1b', ['10.0.0.2'])],
  );
  expect(found).toEqual([
    { zone: 'eu-west-1a', instanceId: 'i-1' },
    { zone: 'eu-west-1b' },
    ...Array(3).fill({ zone: 'unknown' }),
  ]);
});

test('an address that two networks have is of no instance, and of a zone only when both are in it', async () => {
  const { found } = await located(
    ['10.0.0.1:80', '10.0.0.2:80'],
    [
      at('eu-west-1a', ['10.0.0.1', '10.0.0.2'], 'i-1'),
      at('eu-west-1a', ['10.0.0.1'], 'i-2'),
      at('eu-west-1b', ['10.0.0.2'], 'i-3'),
    ],
  );
  expect(found).toEqual([{ zone: 'eu-west-1a' }, { zone: 'unknown' }]);
});

test('R-CHUNK, R-ENI: each address is asked for once, a hundred at a time, managed interfaces included', async () => {
  const { asked } = await located(
    [...names('10.0.0.1:', 150), ...names('10.1.0.', 101).map(ip => `${ip}:80`)],
    [],
  );
  const values = asked.map(({ input }) =>
    Reflect.get(Object(Array.isArray(input.Filters) ? input.Filters[0] : {}), 'Values'),
  );
  expect(values.map(some => some.length).sort()).toEqual([100, 2]);
  expect(asked.every(({ input }) => input.IncludeManagedResources === true)).toBe(true);
});

test('a node is found by its private address, else by its public one, and is nowhere where that is not of one zone', async () => {
  const zoneOf = (node: string, found: Readonly<Record<string, readonly NetworkInterface[]>>) => {
    const { run } = scripted('ec2', {
      DescribeNetworkInterfaces: ({ Filters }) => {
        const [filter]: readonly unknown[] = Array.isArray(Filters) ? Filters : [];
        return { NetworkInterfaces: [...(found[String(Reflect.get(Object(filter), 'Name'))] ?? [])] };
      },
    });
    return run(() => zoneOfNode(node));
  };
  const isPrivate = 'addresses.private-ip-address';
  const isPublic = 'addresses.association.public-ip';
  const a = at('eu-west-1a', ['10.0.0.1']);
  const b = at('eu-west-1b', ['10.0.0.1']);
  expect(await zoneOf('10.0.0.1', { [isPrivate]: [a], [isPublic]: [b] })).toBe('eu-west-1a');
  expect(await zoneOf('198.51.100.7', { [isPublic]: [b] })).toBe('eu-west-1b');
  expect(await zoneOf('10.0.0.1', { [isPrivate]: [a, b] })).toBe('unknown');
  expect(await zoneOf('10.0.0.1', {})).toBe('unknown');
  expect(await zoneOf('*', { [isPrivate]: [a] })).toBe('unknown');
});

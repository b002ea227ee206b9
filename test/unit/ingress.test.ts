import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressBlock, contains } from '../../functions/core/domain/address-block.ts';
import {
  type GroupRule,
  judgeIngress,
  managedPath,
  pathsTo,
  type SeenNetwork,
} from '../../functions/core/domain/ingress.ts';
import { Network } from '../../local/account/ec2-network.ts';
import { createWorld } from '../../local/account/world.ts';

const instance = { subnetId: 'subnet-a', groupIds: ['sg-app'] };
const path = managedPath(instance, 8080, 'ipv4');
const everywhere = { kind: 'addresses', cidr: '0.0.0.0/0' } as const;
const rule = (over: Partial<GroupRule>): GroupRule => ({
  id: 'sgr-in',
  direction: 'inbound',
  protocol: 'tcp',
  fromPort: 8080,
  toPort: 8080,
  peer: everywhere,
  ...over,
});
const outbound = rule({ id: 'sgr-out', direction: 'outbound', protocol: '-1', fromPort: -1, toPort: -1 });
const seen = (rules: readonly GroupRule[], more: Partial<SeenNetwork> = {}): SeenNetwork => ({
  rulesByGroup: new Map([['sg-app', rules]]),
  cidrsBySubnet: new Map([['subnet-a', ['10.0.0.0/19', '2001:db8::/64']]]),
  cidrsByPrefixList: new Map([['pl-vpc', ['10.0.0.0/8']]]),
  ...more,
});
const judge = (inbound: Partial<GroupRule>, over = path) =>
  judgeIngress(over, seen([outbound, rule(inbound)]));
const open = { kind: 'open', ruleIds: ['sgr-out', 'sgr-in'] };

test('the group itself, the subnet, a prefix list or every protocol let a check of AWS in', () => {
  expect(judge({ peer: { kind: 'group', groupId: 'sg-app' } })).toEqual(open);
  expect(judge({ peer: { kind: 'addresses', cidr: '10.0.0.0/16' } })).toEqual(open);
  expect(judge({ peer: { kind: 'prefix-list', prefixListId: 'pl-vpc' } })).toEqual(open);
  expect(judge({ protocol: '-1', fromPort: -1, toPort: -1 })).toEqual(open);
  expect(judge({ protocol: '6', fromPort: 8000, toPort: 9000 })).toEqual(open);
});

test('a group with no rule for the check is closed, with the rule to add as data and as a command', () => {
  const command =
    "aws ec2 authorize-security-group-ingress --group-id sg-app --ip-permissions 'IpProtocol=tcp,FromPort=8080,ToPort=8080,UserIdGroupPairs=[{GroupId=sg-app}]'";
  const add = [{ direction: 'inbound', groupId: 'sg-app', peerGroupId: 'sg-app', port: 8080, command }];
  expect(judge({ fromPort: 443, toPort: 443 })).toEqual({ kind: 'closed', add });
  expect(judge({ protocol: 'udp' })).toEqual({ kind: 'closed', add });
  expect(judge({ peer: { kind: 'group', groupId: 'sg-load-balancer' } })).toEqual({ kind: 'closed', add });
  expect(judge({ peer: { kind: 'addresses', cidr: '192.168.0.0/16' } })).toEqual({ kind: 'closed', add });
});

test('the outbound rules of the group hold the check too: its interface has the same group', () => {
  const verdict = judgeIngress(path, seen([rule({})]));
  expect(verdict).toMatchObject({ kind: 'closed', add: [{ direction: 'outbound', groupId: 'sg-app' }] });
});

test('rules by IPv6 and by IPv4 addresses are not taken for each other', () => {
  const ipv6 = managedPath(instance, 8080, 'ipv6');
  const subnet = { kind: 'addresses', cidr: '2001:db8::/56' } as const;
  const both = seen([outbound, rule({ ...outbound, id: 'sgr-out6', peer: subnet }), rule({ peer: subnet })]);
  expect(judgeIngress(ipv6, both)).toEqual({ kind: 'open', ruleIds: ['sgr-out6', 'sgr-in'] });
  expect(judgeIngress(path, both).kind).toBe('closed');
});

test('what cannot be read, or holds in part, is unknown and never closed', () => {
  const unknown = (network: SeenNetwork, over = path) => {
    const verdict = judgeIngress(over, network);
    return verdict.kind === 'unknown' ? verdict.why : verdict.kind;
  };
  const partly = rule({ peer: { kind: 'addresses', cidr: '10.0.0.0/24' } });
  const listed = rule({ peer: { kind: 'prefix-list', prefixListId: 'pl-other' } });
  expect(unknown(seen([outbound, partly]))).toMatch(/only a part of the addresses of subnet-a/);
  expect(unknown(seen([outbound, listed]))).toMatch(/prefix list that could not be read/);
  expect(unknown(seen([], { rulesByGroup: new Map() }))).toMatch(/rules of sg-app could not be read/);
  expect(unknown(seen([outbound, rule({})], { cidrsBySubnet: new Map() }))).toMatch(/ipv4 addresses/);
  expect(unknown(seen([]), managedPath({ ...instance, groupIds: [] }, 8080, 'ipv4'))).toMatch(/no security/);
});

test('of several groups, each has to be let in: AWS does not say with which the check comes', () => {
  const both = { subnetId: 'subnet-a', groupIds: ['sg-app', 'sg-more'] };
  const ownOnly = rule({ peer: { kind: 'group', groupId: 'sg-app' } });
  const network = (inbound: GroupRule) =>
    seen([], {
      rulesByGroup: new Map([
        ['sg-app', [outbound, inbound]],
        ['sg-more', [outbound]],
      ]),
    });
  expect(judgeIngress(managedPath(both, 8080, 'ipv4'), network(ownOnly)).kind).toBe('unknown');
  expect(judgeIngress(managedPath(both, 8080, 'ipv4'), network(rule({}))).kind).toBe('open');
});

test('a customer-managed path leads to the instances of its destinations, by their subnet and one of their groups', () => {
  const source = { subnetId: 'subnet-b', groupId: 'sg-checks' };
  const to = (subnetId: string, groupId: string) => ({ source, destinations: [{ subnetId, groupId }] });
  const paths = [to('subnet-a', 'sg-app'), to('subnet-a', 'sg-other'), to('subnet-b', 'sg-app')];
  const [only, ...others] = pathsTo(instance, 8080, { deviceIndex: 0, ipVersion: 'ipv6', paths });
  expect(others).toEqual([]);
  expect(only).toEqual({
    source: { subnetId: 'subnet-b', groupIds: ['sg-checks'] },
    destination: instance,
    port: 8080,
    ipVersion: 'ipv6',
  });
  const managed = { deviceIndex: 0, ipVersion: 'ipv4', paths: [] } as const;
  expect(pathsTo(instance, 8080, managed)).toEqual([managedPath(instance, 8080, 'ipv4')]);
  expect(pathsTo(instance, 8080, { ...managed, deviceIndex: 1 })).toEqual([]);
});

test('between two subnets the network ACLs decide too', () => {
  const source = { subnetId: 'subnet-b', groupIds: ['sg-app'] };
  const network = seen([outbound, rule({})], {
    cidrsBySubnet: new Map([
      ['subnet-a', ['10.0.0.0/19']],
      ['subnet-b', ['10.0.32.0/19']],
    ]),
  });
  const verdict = judgeIngress({ ...path, source }, network);
  expect(verdict).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/network ACLs/) });
});

test('adding a rule never closes anything, and one for other addresses changes nothing', () => {
  const cidr = fc.constantFrom('0.0.0.0/0', '10.0.0.0/19', '10.0.0.0/24', '192.168.0.0/16', '::/0');
  const peer = fc.oneof(
    cidr.map(text => ({ kind: 'addresses', cidr: text }) as const),
    fc.constantFrom('sg-app', 'sg-other').map(groupId => ({ kind: 'group', groupId }) as const),
  );
  const any = fc
    .record({
      peer,
      fromPort: fc.integer({ min: 8078, max: 8081 }),
      direction: fc.constantFrom('inbound', 'outbound'),
    })
    .map(drawn => rule(drawn));
  const rank = { closed: 0, unknown: 1, open: 2 };
  const rankOf = (rules: readonly GroupRule[]) => rank[judgeIngress(path, seen(rules)).kind];
  fc.assert(
    fc.property(fc.array(any, { maxLength: 5 }), any, (rules, added) => {
      expect(rankOf([...rules, added])).toBeGreaterThanOrEqual(rankOf(rules));
      const outside = { ...added, peer: { kind: 'addresses', cidr: '192.168.0.0/16' } } as const;
      expect(rankOf([...rules, outside])).toBe(rankOf(rules));
    }),
  );
});

test('text that is no block of addresses is none', () => {
  for (const text of [
    '10.0.0.0',
    '10.0.0/8',
    '10.0.0.256/8',
    '10.0.0.0/33',
    '::/129',
    '1::2::3/64',
    '1:2/64',
    'g::/8',
  ])
    expect(addressBlock(text), text).toBeUndefined();
  const [outer, inner] = [addressBlock('2001:db8::/32'), addressBlock('2001:db8:0:1:0:0:0:1/128')];
  expect(outer && inner && contains(outer, inner)).toBe(true);
});

test('the simulated account lets a probe through exactly where the verdict is open', () => {
  const network = new Network(createWorld());
  const subnet = network.addSubnet('eu-west-1a');
  const other = network.addSecurityGroup();
  const group = network.addSecurityGroup();
  const here = { subnetId: subnet.id, groupIds: [group.id] };
  const from = fc.constantFrom(
    { cidr: '0.0.0.0/0' },
    { cidr: subnet.cidr.text },
    { cidr: '192.168.0.0/16' },
    { groupId: other.id },
    'self' as const,
  );
  const ports = fc.constantFrom(443, 8080, 8081);
  const ingress = fc.array(fc.record({ from, fromPort: ports, toPort: ports }), { maxLength: 3 });
  const answers = new Set<string>();
  fc.assert(
    fc.property(ingress, rules => {
      network.setIngress(group.id, rules);
      const inbound = rules.map(({ from: origin, ...range }) => {
        if (origin === 'self') return rule({ ...range, peer: { kind: 'group', groupId: group.id } });
        if ('cidr' in origin) return rule({ ...range, peer: { kind: 'addresses', ...origin } });
        return rule({ ...range, peer: { kind: 'group', ...origin } });
      });
      const { kind } = judgeIngress(managedPath(here, 8080, 'ipv4'), {
        rulesByGroup: new Map([[group.id, [outbound, ...inbound]]]),
        cidrsBySubnet: new Map([[subnet.id, [subnet.cidr.text]]]),
        cidrsByPrefixList: new Map(),
      });
      answers.add(kind);
      expect(kind).toBe(network.admits([group.id], 8080, [group.id], subnet.id) ? 'open' : 'closed');
    }),
    { seed: 1 },
  );
  expect([...answers].sort()).toEqual(['closed', 'open']);
});

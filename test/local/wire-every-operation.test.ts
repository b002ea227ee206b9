import * as autoScaling from '@aws-sdk/client-auto-scaling';
import * as cloudWatch from '@aws-sdk/client-cloudwatch';
import * as codeDeploy from '@aws-sdk/client-codedeploy';
import * as dynamoDb from '@aws-sdk/client-dynamodb';
import * as ec2 from '@aws-sdk/client-ec2';
import * as elb from '@aws-sdk/client-elastic-load-balancing-v2';
import * as sfn from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import { Random } from '../../local/clock/random.ts';
import type { Service } from '../../local/wire/contract.ts';
import type { Transport } from '../../local/wire/invocation.ts';
import { type Shape, type Structure, shapesOf } from '../../local/wire/shapes.ts';
import { createWire } from '../../local/wire/wire.ts';

/** The clients' own code writes what the wire reads and reads what the wire writes: neither can be wrong alone. */
type Spoken = Pick<Service, 'client' | 'protocol'> & {
  readonly connect: (requestHandler: Transport) => object;
};

const settings = {
  region: 'eu-west-1',
  endpoint: 'http://simulated',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  maxAttempts: 1,
};

const spoken: Readonly<Record<string, Spoken>> = {
  ec2: {
    client: ec2,
    protocol: { kind: 'ec2-query', version: '2016-11-15' },
    connect: requestHandler => new ec2.EC2({ ...settings, requestHandler }),
  },
  elasticloadbalancing: {
    client: elb,
    protocol: { kind: 'query', version: '2015-12-01' },
    connect: requestHandler => new elb.ElasticLoadBalancingV2({ ...settings, requestHandler }),
  },
  autoscaling: {
    client: autoScaling,
    protocol: { kind: 'query', version: '2011-01-01' },
    connect: requestHandler => new autoScaling.AutoScaling({ ...settings, requestHandler }),
  },
  cloudwatch: {
    client: cloudWatch,
    protocol: { kind: 'json', target: 'GraniteServiceVersion20100801', jsonVersion: '1.0' },
    connect: requestHandler => new cloudWatch.CloudWatch({ ...settings, requestHandler }),
  },
  codedeploy: {
    client: codeDeploy,
    protocol: { kind: 'json', target: 'CodeDeploy_20141006', jsonVersion: '1.1' },
    connect: requestHandler => new codeDeploy.CodeDeploy({ ...settings, requestHandler }),
  },
  states: {
    client: sfn,
    protocol: { kind: 'json', target: 'AWSStepFunctions', jsonVersion: '1.0' },
    connect: requestHandler => new sfn.SFN({ ...settings, requestHandler }),
  },
  dynamodb: {
    client: dynamoDb,
    protocol: { kind: 'json', target: 'DynamoDB_20120810', jsonVersion: '1.0' },
    connect: requestHandler => new dynamoDb.DynamoDB({ ...settings, requestHandler }),
  },
};

const strings = [
  'plain',
  '',
  'a & b',
  '<tag>',
  `"quoted" 'too'`,
  ' two\tlines\r\nand spaces ',
  'Zürich ☂ 🚦',
  '0',
  'a+b=c%20',
] as const;

/** A value of the shape with every member, to the depth given; below it no structures. */
function someValue(shape: Shape, random: Random, depth: number): unknown {
  switch (shape.kind) {
    case 'string':
      return random.pick(strings);
    case 'number':
      return random.pick([0, 1, -1, 0.5, 65535]);
    case 'boolean':
      return random.chance(0.5);
    case 'timestamp':
      return new Date(random.whole(0, 2_000_000_000) * 1000);
    case 'blob':
      return Uint8Array.from({ length: 5 }, () => random.whole(0, 255));
    case 'list':
      return [someValue(shape.item, random, depth - 1), someValue(shape.item, random, depth - 1)];
    case 'map':
      return { [random.pick(strings)]: someValue(shape.value, random, depth - 1) };
    case 'structure':
      return structureOf(shape, random, depth);
  }
}

function structureOf(shape: Structure, random: Random, depth: number): object {
  const [first, ...others] = [...shape.members.values()].filter(
    (member, place) => place === 0 || shape.required.includes(member) || depth > 0 || isScalar(member.shape),
  );
  if (!first) return {};
  const members = shape.isUnion ? [random.pick([first, ...others])] : [first, ...others];
  return Object.fromEntries(members.map(({ name, shape }) => [name, someValue(shape, random, depth - 1)]));
}

const isScalar = ({ kind }: Shape) => kind !== 'structure' && kind !== 'list' && kind !== 'map';

test.each(Object.entries(spoken))(
  'every member of every operation of %s crosses the wire both ways as itself',
  async (name, { client, protocol, connect }) => {
    const random = new Random(7);
    const shapes = shapesOf({ client, protocol });
    const operations = Object.keys(client).flatMap(key => shapes.operation(key.replace(/\$$/, '')) ?? []);
    let received: object | undefined;
    let answered: object = {};
    const operation = (input: object) => {
      received = input;
      return answered;
    };
    const service = {
      name,
      client,
      protocol,
      operations: Object.fromEntries(operations.map(({ action }) => [action, operation])),
    };
    const wire = createWire({ services: [service], gates: [], clock: createWorld().clock });
    const connection = connect(wire.transport());

    for (const { action, input, output } of operations) {
      const sent = structureOf(input, random, 3);
      answered = structureOf(output, random, 3);
      const method = action.charAt(0).toLowerCase() + action.slice(1);
      const call: (input: object) => Promise<object> = Reflect.get(connection, method).bind(connection);
      const { $metadata: _, ...understood } = { $metadata: {}, ...(await call(sent)) };
      expect({ action, received, understood }).toEqual({ action, received: sent, understood: answered });
    }
    expect(operations.length).toBeGreaterThan(30);
  },
);

import * as autoscaling from '@aws-sdk/client-auto-scaling';
import * as cloudwatch from '@aws-sdk/client-cloudwatch';
import * as codedeploy from '@aws-sdk/client-codedeploy';
import * as ec2 from '@aws-sdk/client-ec2';
import * as elasticloadbalancing from '@aws-sdk/client-elastic-load-balancing-v2';
import { createWorld } from '../../../local/account/world.ts';
import { type Caller, type Service, ServiceError } from '../../../local/wire/contract.ts';
import { runAs, type Transport } from '../../../local/wire/invocation.ts';
import { installProcessConnection } from '../../../local/wire/process-connection.ts';
import { createWire } from '../../../local/wire/wire.ts';

const spoken = {
  ec2: { client: ec2, protocol: { kind: 'ec2-query', version: '2016-11-15' } },
  elasticloadbalancing: {
    client: elasticloadbalancing,
    protocol: { kind: 'query', version: '2015-12-01' },
  },
  autoscaling: { client: autoscaling, protocol: { kind: 'query', version: '2011-01-01' } },
  cloudwatch: {
    client: cloudwatch,
    protocol: { kind: 'json', target: 'GraniteServiceVersion20100801', jsonVersion: '1.0' },
  },
  codedeploy: {
    client: codedeploy,
    protocol: { kind: 'json', target: 'CodeDeploy_20141006', jsonVersion: '1.1' },
  },
} as const;

const caller: Caller = { kind: 'function', name: 'Tested' };

/** What one call asked for. */
export interface Asked {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Scripted {
  /** The calls so far, retries included, in order. */
  readonly asked: Asked[];
  /** Does `work` as a Lambda function would, against this account, in virtual time. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How much virtual time `run` has taken, in milliseconds. */
  elapsedMs(): number;
}

/** An account of one service with these operations only, behind the service's own wire protocol. */
export function scripted(name: keyof typeof spoken, operations: Service['operations']): Scripted {
  const asked: Asked[] = [];
  const note = {
    before: ({ action }: { action: string }, input: Asked['input']) => void asked.push({ action, input }),
  };
  const world = createWorld();
  const service: Service = { name, ...spoken[name], operations };
  const wire = createWire({ services: [service], gates: [note], clock: world.clock });
  return { asked, ...over(wire.transport(caller), world) };
}

/** An account that answers every call with these bytes: for what no service of ours would say. */
export function answering(status: number, body: string): Omit<Scripted, 'asked'> {
  const transport: Transport = {
    handle: async () => ({
      response: {
        statusCode: status,
        headers: { 'content-type': 'text/xml' },
        body: new TextEncoder().encode(body),
      },
    }),
  };
  return over(transport, createWorld());
}

/** The network fails each call in this way. */
export function failing(error: Error): Omit<Scripted, 'asked'> {
  return over({ handle: () => Promise.reject(error) }, createWorld());
}

function over(transport: Transport, world: ReturnType<typeof createWorld>) {
  Object.assign(process.env, {
    AWS_REGION: world.region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  installProcessConnection();
  const startedAt = world.clock.now();
  const invocation = { caller, world, transport, random: world.random };
  return {
    run: <T>(work: () => Promise<T>) => world.clock.runFor(runAs(invocation, work)),
    elapsedMs: () => world.clock.now() - startedAt,
  };
}

/** `count` names that differ, `i-000`, `i-001` and so on. */
export const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`);

/** EC2's own way: an unknown id fails the whole call. */
export const knowing =
  <I extends { InstanceIds?: string[] | undefined }>(
    known: (id: string) => boolean,
    answer: (ids: string[]) => object,
  ) =>
  ({ InstanceIds = [] }: I) => {
    const unknown = InstanceIds.filter(id => !known(id));
    if (unknown.length === 0) return answer(InstanceIds);
    throw new ServiceError('InvalidInstanceID.NotFound', `The instance IDs '${unknown}' do not exist`);
  };

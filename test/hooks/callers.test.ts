import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveFunctionUrl, urlEvent } from '../../local/agent/function-url.ts';
import { type RoleSession, RoleSessions } from '../../local/agent/instance-role.ts';
import type { Loopback } from '../../local/agent/loopback.ts';
import { StillTime } from '../../local/agent/still-time.ts';
import { type Standing, standUp } from '../../local/simulate/simulation.ts';
import type { Stack } from '../../local/stack/deploy.ts';
import type { DeployedFunction } from '../../local/stack/deployed-template.ts';
import { throughCodeDeploy } from './helpers/through-code-deploy.ts';

const NAMES = { applicationName: 'shop', deploymentGroupName: 'web' };
const EVENT = 'ApplicationStop';

/** Deployments to the first instance, each in another state; only in the first is `ApplicationStop` in progress. */
const STATES = ['in-progress', 'not-begun', 'event-over', 'succeeded', 'failed', 'stopped'] as const;
type State = (typeof STATES)[number];

/** Who is refused, and who is told to wait since CodeDeploy shows the event late. */
const EXPECTED: Readonly<Record<State, string>> = {
  'in-progress': '200',
  'not-begun': '200 wait',
  'event-over': '403',
  succeeded: '403',
  failed: '403',
  stopped: '403',
};

let standing: Standing;
let stack: Stack;
let hook: DeployedFunction;
let sessions: RoleSessions;
let own: RoleSession;
let other: RoleSession;
const deployments = new Map<State, string>();

beforeAll(async () => {
  standing = await standUp({ scenario: throughCodeDeploy() });
  const { account, fleet } = standing;
  const [first, second] = fleet.instances;
  const found = standing.stack?.template.functions.get('HookFunction');
  if (!standing.stack || !found || !first || !second) throw new Error('the scenario is not as it was');
  stack = standing.stack;
  hook = found;
  sessions = new RoleSessions(account.world);
  const role = { name: 'web', id: 'AROAEXAMPLEINSTANCES1' };
  own = sessions.of(first, role);
  other = sessions.of(second, role);
  account.codeDeploy.addDeploymentGroup(NAMES);
  for (const state of STATES) deployments.set(state, begin(state, first.id));
  await account.world.clock.pass(5000);
});

function begin(state: State, instanceId: string): string {
  const { codeDeploy } = standing.account;
  const deployment = codeDeploy.begin({ ...NAMES, instanceIds: [instanceId] });
  const target = deployment.targets.get(instanceId);
  if (state === 'not-begun') return deployment.id;
  target?.begin();
  target?.enter(EVENT);
  if (state === 'event-over') target?.leave(EVENT, 'Succeeded');
  if (state === 'succeeded') codeDeploy.endDeployment(deployment.id, 'Succeeded');
  if (state === 'failed') codeDeploy.endDeployment(deployment.id, 'Failed');
  if (state === 'stopped') codeDeploy.endDeployment(deployment.id, 'Stopped');
  return deployment.id;
}

const started = () => [...stack.executions.all()].length;

interface Question {
  readonly act: string;
  readonly deploymentId: string;
  readonly lifecycleEvent: string;
  readonly instanceId: string;
}

const question = (more: Partial<Question> = {}): Question => ({
  act: 'gate',
  deploymentId: deployments.get('in-progress') ?? '',
  lifecycleEvent: EVENT,
  instanceId: own.instanceId,
  ...more,
});

/** Hands the function the event that its URL would, for a caller whom Lambda names so. */
async function ask(userId: string | undefined, body: string | undefined, more: object = {}): Promise<string> {
  const { world } = standing.account;
  const event = urlEvent(
    { world, served: hook },
    { method: 'POST', target: '/', headers: {}, body: '' },
    own,
  );
  const { requestContext } = event;
  const iam = { ...requestContext.authorizer.iam, userId };
  const authorizer = userId === undefined ? null : { iam };
  const called = { ...event, body, ...more, requestContext: { ...requestContext, authorizer } };
  const answer = (await world.clock.runFor(stack.lambda.invoke(hook.arn, called))) as {
    statusCode: number;
    body: string;
  };
  return `${answer.statusCode} ${JSON.parse(answer.body).verdict}`;
}

const instanceIds = fc.stringMatching(/^i-[0-9a-f]{8,17}$/);
const roleIds = fc.stringMatching(/^A(ROA|IDA|SIA|KIA|GPA)[0-9A-Z]{4,17}$/);

/** User ids as IAM makes them for people, roles, federated users and accounts, and some that nobody has. */
const foreignUserIds = fc.oneof(
  fc.constant(undefined),
  fc.string(),
  roleIds,
  fc.tuple(roleIds, fc.oneof(instanceIds, fc.string(), fc.emailAddress())).map(parts => parts.join(':')),
  fc
    .constantFrom('own', 'other')
    .chain(whose =>
      fc
        .constantFrom('AIDA:', '111122223333:', ':', 'AROA:x:', 'aroaexample:', 'AROA: ')
        .map(prefix => `${prefix}${whose}`),
    ),
  fc.constantFrom(
    'AROAEXAMPLEINSTANCES1:other',
    'AROAEXAMPLEINSTANCES1:own:x',
    'AROAEXAMPLEINSTANCES1:ownf',
    'AROAEXAMPLEINSTANCES1:',
  ),
);

/** `own` and `other` stand for the instances' ids, which are not known before the account is. */
const named = (userId: string | undefined) =>
  userId?.replace('own', own.instanceId).replace('other', other.instanceId);

describe('D9: nothing is started, and the answer is 403, for', () => {
  it('every caller who is not the instance itself', async () => {
    await fc.assert(
      fc.asyncProperty(foreignUserIds, fc.constantFrom('before', 'gate', 'after'), async (userId, act) => {
        expect(await ask(named(userId), JSON.stringify(question({ act })))).toBe('403 failed');
        expect(started()).toBe(0);
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it('an instance that speaks of what is not its own, is over, or is nothing', async () => {
    const foreign = fc.oneof(
      fc.record({ instanceId: fc.oneof(fc.constant('other'), instanceIds, fc.string()) }),
      fc.record({ deploymentId: fc.oneof(fc.stringMatching(/^d-[0-9A-Z]{9}$/), fc.string()) }),
      fc.record({
        lifecycleEvent: fc.oneof(
          fc.constantFrom('Start', 'Install', 'End', '__proto__', 'constructor'),
          fc.string(),
        ),
      }),
      fc.record({ act: fc.string(), more: fc.anything() }),
    );
    await fc.assert(
      fc.asyncProperty(foreign, async more => {
        const { instanceId, ...rest } = question(more);
        const body = JSON.stringify({ ...rest, instanceId: instanceId.replace(/^other$/, other.instanceId) });
        expect(await ask(`${own.role.id}:${own.instanceId}`, body)).toBe('403 failed');
        expect(started()).toBe(0);
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it('a body that is no question', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async body => {
        expect(await ask(`${own.role.id}:${own.instanceId}`, body)).toBe('403 failed');
        expect(started()).toBe(0);
      }),
      { numRuns: 50, seed: 1 },
    );
  });

  it('no body at all', async () => {
    expect(await ask(`${own.role.id}:${own.instanceId}`, undefined)).toBe('403 failed');
    expect(started()).toBe(0);
  });

  it.each(STATES.filter(state => state !== 'in-progress'))(
    'a replayed call, when its event is %s',
    async state => {
      for (const act of ['before', 'gate', 'after']) {
        const body = JSON.stringify(question({ act, deploymentId: deployments.get(state) ?? '' }));
        expect(await ask(`${own.role.id}:${own.instanceId}`, body)).toContain(EXPECTED[state]);
      }
      expect(started()).toBe(0);
    },
  );

  it('calls over the function URL that are not signed, signed by another, swapped or changed on their way', async () => {
    const { world } = standing.account;
    const time = new StillTime(world.clock);
    const waiting = <T>(_: string, work: () => Promise<T>) => time.during(work);
    const url = await serveFunctionUrl({ world, lambda: stack.lambda, served: hook, sessions, waiting });
    const all = Promise.all([
      send(url, JSON.stringify(question())),
      send(url, JSON.stringify(question()), { signedBy: other }),
      send(url, JSON.stringify(question({ instanceId: other.instanceId })), { signedBy: own }),
      send(url, JSON.stringify(question()), {
        signedBy: own,
        sent: JSON.stringify(question({ act: 'before' })),
      }),
      send(url, JSON.stringify(question()), { signedBy: { ...own, accessKeyId: other.accessKeyId } }),
    ]).finally(() => time.end());
    expect(await world.clock.runFor(all)).toEqual([403, 403, 403, 403, 403]);
    await url.close();
    expect(started()).toBe(0);
  });
});

it('D9: the instance itself is answered, and its run begins, however Lambda encodes the body', async () => {
  const body = JSON.stringify(question());
  expect(await ask(`${own.role.id}:${own.instanceId}`, body)).toBe('200 wait');
  const encoded = Buffer.from(body).toString('base64');
  expect(await ask(`${own.role.id}:${own.instanceId}`, encoded, { isBase64Encoded: true })).toBe('200 wait');
  expect(started()).toBe(1);
});

async function send(
  { url }: Loopback,
  body: string,
  { signedBy, sent = body }: { readonly signedBy?: RoleSession; readonly sent?: string } = {},
): Promise<number> {
  const { hostname, port } = new URL(url);
  const request = {
    method: 'POST',
    protocol: 'http:',
    hostname,
    port: Number(port),
    path: '/',
    headers: { host: `${hostname}:${port}`, 'content-type': 'application/json' },
    body,
  };
  const signed = signedBy ? await signerOf(signedBy).sign(request) : request;
  const { host: _, ...headers } = signed.headers;
  const answer = await fetch(url, { method: 'POST', headers, body: sent });
  await answer.arrayBuffer();
  return answer.status;
}

const signerOf = ({ accessKeyId, secretAccessKey, sessionToken }: RoleSession) =>
  new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    region: standing.account.world.region,
    service: 'lambda',
    sha256: Sha256,
  });

class Sha256 {
  #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

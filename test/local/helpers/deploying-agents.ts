// First, so that the SDK keeps the replaced timers and file reads.
import '../../../local/clock/lambda-globals.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2WithIAMAuthorizer } from 'aws-lambda';
import { afterEach } from 'vitest';
import type { ScriptLine } from '../../../local/agent/agent.ts';
import { type AgentsSettings, installAgents } from '../../../local/agent/installed-agents.ts';
import type { DeployedFunction } from '../../../local/stack/deployed-template.ts';
import { createFleet, type FleetSpec, NAMES, revision } from './code-deploy.ts';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

export const atTheEnd = (close: () => Promise<void> | void): void => void closing.push(close);

const hookFunction: DeployedFunction = {
  logicalId: 'HookFunction',
  name: 'quiesce-hook',
  arn: 'arn:aws:lambda:eu-west-1:111122223333:function:quiesce-hook',
  versionArn: undefined,
  aliasArn: undefined,
  codeUri: 'build/hook/',
  handler: 'index.handler',
  source: undefined,
  environment: {},
  timeoutSeconds: 60,
  memoryMegabytes: 512,
  role: {
    logicalId: 'HookFunctionRole',
    name: 'role',
    arn: 'arn:aws:iam::111122223333:role/role',
    statements: [],
  },
  asynchronous: { maximumRetryAttempts: 2, maximumEventAgeSeconds: 21_600, onFailure: undefined },
  url: { url: 'https://abcdef.lambda-url.eu-west-1.on.aws/', authType: 'AWS_IAM' },
  invokers: [],
};

/** What a script asked the hook, when, and who signed it. */
export interface Asked {
  readonly act: string;
  readonly deploymentId: string;
  readonly lifecycleEvent: string;
  readonly instanceId: string;
  readonly at: number;
  readonly userId: string;
}

export type Answer = { readonly statusCode: number; readonly body: string };
export type Hook = (question: Asked, count: number) => Answer;

export interface Deploying extends Partial<AgentsSettings> {
  readonly fleet?: Partial<FleetSpec>;
  readonly directory: string;
  /** What the fleet runs already; the same unless given. */
  readonly installedDirectory?: string;
  readonly hook?: never;
}

const HOUR = 3_600_000;

/** Deploys a revision to a fleet by its real scripts. The hook's function answers as `hook` says. */
export async function deploying(
  { fleet: spec, directory, installedDirectory = directory, ...settings }: Deploying,
  hook: Hook,
) {
  const fleet = createFleet({ instances: 1, ...spec });
  const { clock, account, ids } = fleet;
  const asked: Asked[] = [];
  const output: string[] = [];
  const lines: ScriptLine[] = [];
  const lambda = {
    async invoke(_name: string, payload: unknown) {
      const { requestContext, body = '' } = payload as APIGatewayProxyEventV2WithIAMAuthorizer;
      await clock.sleep(200);
      const { userId } = requestContext.authorizer.iam;
      const question: Asked = { ...JSON.parse(body), at: clock.now(), userId };
      asked.push(question);
      return hook(question, asked.length);
    },
  };
  const installed = await installAgents({
    ...settings,
    account,
    hook: { lambda, function: hookFunction },
    application: {
      stop: instance => instance.application.stop(),
      start: instance => instance.application.start(20),
    },
    hear: line => {
      lines.push(line);
      output.push(line.text);
    },
  });
  atTheEnd(() => installed.close());
  const { engine } = installed;
  installed.settle(fleet.deploymentGroup, revision('v1', installedDirectory), ids);
  const startedAt = clock.now();
  const deployment = engine.create({ ...NAMES, revision: revision('v2', directory) });
  const targetOf = (instanceId = ids[0] ?? '') => deployment.targets.get(instanceId);
  return {
    ...fleet,
    ...installed,
    deployment,
    asked,
    output,
    lines,
    said: () => output.flatMap(text => /quiesce: .*/.exec(text)?.[0] ?? []),
    seconds: () => (clock.now() - startedAt) / 1000,
    failure: () => targetOf()?.shown.lifecycleEvents.find(({ status }) => status === 'Failed'),
    async end() {
      await clock.runFor(engine.ended(deployment.id), 20 * HOUR);
      await clock.pass(5000);
      return deployment.status;
    },
  };
}

/** A revision with these scripts, one for each lifecycle event. */
export function writeRevision(scripts: Readonly<Record<string, string>>, timeoutSeconds = 600): string {
  const directory = mkdtempSync(join(tmpdir(), 'revision-'));
  atTheEnd(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'scripts'));
  const hooks = Object.entries(scripts).map(([event, text]) => {
    writeFileSync(join(directory, 'scripts', `${event}.sh`), text);
    return `  ${event}:\n    - { location: scripts/${event}.sh, timeout: ${timeoutSeconds} }\n`;
  });
  writeFileSync(join(directory, 'appspec.yml'), `version: 0.0\nos: linux\nhooks:\n${hooks.join('')}`);
  return directory;
}

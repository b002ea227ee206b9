import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { NAMES, revision } from '../local/helpers/code-deploy.ts';
import {
  type Answer,
  atTheEnd,
  type Deploying,
  deploying,
  type Hook,
  writeRevision,
} from '../local/helpers/deploying-agents.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/codedeploy', import.meta.url));

const deployingExample = (settings: Omit<Deploying, 'directory'>, hook: Hook) =>
  deploying({ ...settings, directory: EXAMPLE }, hook);

const answer = (verdict: string, reason: string, waitSeconds = 0, statusCode = 200): Answer => ({
  statusCode,
  body: JSON.stringify({ verdict, reason, waitSeconds }),
});

describe('the shipped script', () => {
  it('D8, D9: gates before the application is stopped, ends after it is back, and is known by its credentials', async () => {
    const waiting = new Map<string, number>();
    const { end, asked, account, ids, said, seconds } = await deployingExample(
      {},
      ({ act, lifecycleEvent }) => {
        const count = (waiting.get(lifecycleEvent) ?? 0) + 1;
        waiting.set(lifecycleEvent, count);
        if (act === 'gate') {
          const isUp = account.ec2.instance(ids[0] ?? '')?.application.isUp;
          expect(isUp).toBe(lifecycleEvent === 'ApplicationStop');
        }
        if (lifecycleEvent === 'BeforeInstall' || count > 4) return answer('go-ahead', `${act} is done.`);
        return answer('wait', count > 2 ? `${act} takes longer.` : `${act} takes long.`, 15);
      },
    );
    expect(await end()).toBe('Succeeded');
    const [id = ''] = ids;
    expect(asked.map(question => question.instanceId)).toEqual(asked.map(() => id));
    expect(new Set(asked.map(question => question.userId))).toEqual(new Set([`AROAEXAMPLEINSTANCES1:${id}`]));
    const events = asked.map(({ act, lifecycleEvent }) => `${act} ${lifecycleEvent}`);
    expect(events).toEqual([
      ...Array(5).fill('gate ApplicationStop'),
      'gate BeforeInstall',
      ...Array(5).fill('after ValidateService'),
    ]);
    // Virtual time passes by the script's sleeps: 4 of 15 s before, 4 after, and the application's start.
    expect(seconds()).toBeGreaterThan(140);
    expect(seconds()).toBeLessThan(200);
    // A line only when the reason changes.
    expect(said()).toEqual([
      'quiesce: gate takes long.',
      'quiesce: gate takes longer.',
      'quiesce: gate is done.',
      'quiesce: gate is done.',
      'quiesce: after takes long.',
      'quiesce: after takes longer.',
      'quiesce: after is done.',
    ]);
  });

  it("D8: with CodeDeploy's own load balancer step begins before it, gates after it and ends after the traffic", async () => {
    const { end, asked } = await deployingExample({ fleet: { balanced: true } }, () =>
      answer('go-ahead', 'Go.'),
    );
    expect(await end()).toBe('Succeeded');
    expect(asked.map(({ act, lifecycleEvent }) => `${act} ${lifecycleEvent}`)).toEqual([
      'before BeforeBlockTraffic',
      'gate AfterBlockTraffic',
      'gate ApplicationStop',
      'gate BeforeInstall',
      'after ValidateService',
      'after AfterAllowTraffic',
    ]);
  });

  it.each([
    [
      'a failure',
      answer('failed', 'BelowFloor: 1 of 2 \\"healthy\\" would be left.'),
      'quiesce: BelowFloor: 1 of 2',
    ],
    ['a refusal', answer('failed', 'HookRefused: not yours.', 0, 403), 'quiesce: HookRefused: not yours.'],
    ['an answer that is none', { statusCode: 200, body: 'x' }, 'quiesce: refused: x'],
  ])('ends with the reason at %s, before the application was touched', async (_, said, log) => {
    const { end, failure, account, ids, asked } = await deployingExample({}, () => said);
    expect(await end()).toBe('Failed');
    expect(failure()).toMatchObject({
      lifecycleEventName: 'ApplicationStop',
      diagnostics: {
        errorCode: 'ScriptFailed',
        scriptName: 'scripts/quiesce.sh',
        message: 'Script at specified location: scripts/quiesce.sh failed with exit code 1',
        logTail: expect.stringContaining(log),
      },
    });
    expect(asked).toHaveLength(1);
    expect(account.ec2.instance(ids[0] ?? '')?.application.isUp).toBe(true);
  });

  it('R-HOOK: gives up with the reason before the hour that CodeDeploy allows', async () => {
    const { end, failure, seconds } = await deployingExample({}, () =>
      answer('wait', 'The drain takes long.', 600),
    );
    expect(await end()).toBe('Failed');
    expect(failure()?.diagnostics).toMatchObject({
      errorCode: 'ScriptFailed',
      logTail: expect.stringContaining("given up before CodeDeploy's own timeout: The drain takes long."),
    });
    expect(seconds()).toBeLessThan(3240);
  });

  it('tries errors of the way again, and a function that fails: bounded', async () => {
    const passing = await deployingExample({}, (_, count) =>
      count % 9 === 0 ? answer('go-ahead', 'Go.') : { statusCode: 503, body: 'busy' },
    );
    expect(await passing.end()).toBe('Succeeded');
    const never = await deployingExample({}, () => ({ statusCode: 500, body: 'Internal Server Error' }));
    expect(await never.end()).toBe('Failed');
    expect(never.asked).toHaveLength(10);
    expect(never.failure()?.diagnostics?.logTail).toContain(
      'given up after 10 attempts: the hook answers with HTTP status 500',
    );
  });

  it('D9: signs by itself where curl cannot, and is known by its credentials all the same', async () => {
    // An older curl: it neither names the option nor takes it.
    const old = mkdtempSync(join(tmpdir(), 'curl-'));
    atTheEnd(() => rmSync(old, { recursive: true }));
    const real = execFileSync('bash', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim();
    const lines = [
      '#!/usr/bin/env bash',
      `[[ $1 == --help ]] && exec echo 'Usage: curl [options...] <url>'`,
      `[[ $* == *--config* ]] || exec ${real} "$@"`,
      'config=$(cat)',
      '[[ $config == *aws-sigv4* ]] && exit 2',
      `exec ${real} "$@" <<<"$config"`,
    ];
    writeFileSync(join(old, 'curl'), `${lines.join('\n')}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${old}:${process.env.PATH}`);
    atTheEnd(() => void vi.unstubAllEnvs());
    const { end, asked, ids, said } = await deployingExample({}, () => answer('go-ahead', 'Go.'));
    expect(await end(), said().at(-1)).toBe('Succeeded');
    expect(new Set(asked.map(({ userId }) => userId))).toEqual(new Set([`AROAEXAMPLEINSTANCES1:${ids[0]}`]));
  });

  it('says when nobody listens, and when the instance has no credentials', async () => {
    const silent = await deployingExample(
      // A port that no server has: the lowest one, reserved.
      { environment: { QUIESCE_HOOK_URL: 'http://127.0.0.1:1' } },
      () => answer('go-ahead', 'Go.'),
    );
    expect(await silent.end()).toBe('Failed');
    expect(silent.said().at(-1)).toContain(
      'given up after 10 attempts: the hook cannot be reached: curl: (7)',
    );
    const poor = await deployingExample({ roleOf: () => undefined }, () => answer('go-ahead', 'Go.'));
    expect(await poor.end()).toBe('Failed');
    expect(poor.said().at(-1)).toContain(
      'the instance has no credentials: does it have an instance profile?',
    );
    expect([...silent.asked, ...poor.asked]).toEqual([]);
  });

  it('D32: goes on after StopDeployment until its next question is answered with a failure', async () => {
    const { engine, deployment, clock, failure, end, asked } = await deployingExample({}, () =>
      deployment.isLive
        ? answer('wait', 'The suppression is spreading.', 15)
        : answer('failed', 'The deployment has ended.', 0, 403),
    );
    await clock.pass(40_000);
    expect(engine.stop(deployment, false)).toBe('Pending');
    expect(await end()).toBe('Stopped');
    expect(asked).toHaveLength(4);
    expect(failure()?.diagnostics?.logTail).toContain('quiesce: The deployment has ended.');
  });

  it('D8: the deployment that introduces it: the old script stops the application before any gate', async () => {
    const installedDirectory = writeRevision({ ApplicationStop: 'systemctl stop app' });
    const { end, asked, account, ids } = await deployingExample(
      { installedDirectory },
      ({ lifecycleEvent }) => {
        if (lifecycleEvent === 'BeforeInstall')
          expect(account.ec2.instance(ids[0] ?? '')?.application.isUp).toBe(false);
        return answer('go-ahead', 'Go.');
      },
    );
    expect(await end()).toBe('Succeeded');
    expect(asked.map(({ lifecycleEvent }) => lifecycleEvent)).toEqual(['BeforeInstall', 'ValidateService']);
  });

  it('D8: a previous revision with a broken hook: ignoring its failure, the gate at BeforeInstall still holds', async () => {
    const installedDirectory = writeRevision({ ApplicationStop: 'exit 1' });
    const { end, asked, engine, clock } = await deployingExample({ installedDirectory }, () =>
      answer('go-ahead', 'Go.'),
    );
    expect(await end()).toBe('Failed');
    expect(asked).toEqual([]);
    const next = engine.create({
      ...NAMES,
      revision: revision('v2', EXAMPLE),
      ignoreApplicationStopFailures: true,
    });
    expect((await clock.runFor(engine.ended(next.id))).status).toBe('Succeeded');
    expect(asked.map(({ lifecycleEvent }) => lifecycleEvent)).toEqual(['BeforeInstall', 'ValidateService']);
  });

  it('D8: the first deployment: the gate at BeforeInstall is the first script of all', async () => {
    const { end, asked, engine, account, clock } = await deployingExample({}, () =>
      answer('go-ahead', 'Go.'),
    );
    await end();
    asked.length = 0;
    const names = { ...NAMES, deploymentGroupName: 'new' };
    account.codeDeploy.addDeploymentGroup({ ...names, autoScalingGroupNames: ['fleet'] });
    const first = engine.create({ ...names, revision: revision('v1', EXAMPLE) });
    expect((await clock.runFor(engine.ended(first.id))).status).toBe('Succeeded');
    expect(asked.map(({ lifecycleEvent }) => lifecycleEvent)).toEqual(['BeforeInstall', 'ValidateService']);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Answer, deploying, writeRevision } from './helpers/deploying-agents.ts';

const GO: Answer = { statusCode: 200, body: '{"verdict":"go-ahead"}' };

it("a script gets the environment that the agent gives it, and nothing of this process's own", async () => {
  process.env.AWS_SECRET_ACCESS_KEY = 'of-the-person-at-the-keyboard';
  const { end, output, deployment, deploymentGroup } = await deploying(
    { directory: writeRevision({ BeforeInstall: 'env' }) },
    () => GO,
  );
  expect(await end()).toBe('Succeeded');
  delete process.env.AWS_SECRET_ACCESS_KEY;
  const lines = output.map(line => line.replace('[stdout]', ''));
  expect(lines).toEqual(
    expect.arrayContaining([
      'LIFECYCLE_EVENT=BeforeInstall',
      `DEPLOYMENT_ID=${deployment.id}`,
      'APPLICATION_NAME=shop',
      'DEPLOYMENT_GROUP_NAME=web',
      `DEPLOYMENT_GROUP_ID=${deploymentGroup.id}`,
      'BUNDLE_BUCKET=bundles',
      'BUNDLE_KEY=v2',
    ]),
  );
  expect(lines.join('\n')).not.toMatch(/person-at-the-keyboard|INSTANCE_ID|REGION=/);
});

it('scripts before DownloadBundle are those of the revision that is installed', async () => {
  const tell = (text: string) =>
    writeRevision({ ApplicationStop: `echo ${text}`, BeforeInstall: `echo ${text}` });
  const { end, output } = await deploying(
    { directory: tell('new'), installedDirectory: tell('old') },
    () => GO,
  );
  await end();
  expect(output.filter(line => line.startsWith('[stdout]'))).toEqual(['[stdout]old', '[stdout]new']);
});

it('a script that takes too long is terminated with all its processes, in virtual time', async () => {
  const script = 'trap "echo terminated" EXIT; echo begun; sleep 7200';
  const { end, failure, seconds } = await deploying(
    { directory: writeRevision({ BeforeInstall: script }, 900) },
    () => GO,
  );
  expect(await end()).toBe('Failed');
  expect(failure()).toMatchObject({
    lifecycleEventName: 'BeforeInstall',
    diagnostics: {
      errorCode: 'ScriptTimedOut',
      message: 'Script at specified location: scripts/BeforeInstall.sh failed to complete in 900 seconds',
      logTail: 'LifecycleEvent - BeforeInstall\nScript - scripts/BeforeInstall.sh\n[stdout]begun\n',
    },
  });
  expect(Math.round(seconds() / 10)).toBe(91);
});

it('the log of a failure is the last 2048 characters of whole lines', async () => {
  const script = 'for n in {1..400}; do echo "line $n"; done; echo "the reason" >&2; exit 3';
  const { end, failure } = await deploying({ directory: writeRevision({ BeforeInstall: script }) }, () => GO);
  expect(await end()).toBe('Failed');
  const { message, logTail = '' } = failure()?.diagnostics ?? {};
  expect(message).toContain('failed with exit code 3');
  expect(logTail).toContain('[stderr]the reason\n');
  expect(logTail.length).toBeLessThanOrEqual(2048);
  expect(logTail.length).toBeGreaterThan(2000);
});

it('R-GONE: a script dies with its instance', async () => {
  const { end, clock, account, ids, failure, agents } = await deploying(
    { directory: writeRevision({ BeforeInstall: 'trap "" TERM; while :; do sleep 60; done' }) },
    () => GO,
  );
  const [id = ''] = ids;
  await clock.pass(300_000);
  expect(agents.machineOf(id).running).toBeDefined();
  account.ec2.terminate(id);
  expect(await end()).toBe('Failed');
  expect(agents.machineOf(id).running).toBeUndefined();
  expect(failure()?.diagnostics?.message).toBe(
    'CodeDeploy agent was not able to receive the lifecycle event.',
  );
});

it('a script that is not there, and an appspec that nobody here can follow, are named', async () => {
  const directory = writeRevision({ BeforeInstall: 'true' });
  const path = join(directory, 'appspec.yml');
  const spec = readFileSync(path, 'utf8');
  writeFileSync(path, spec.replace('BeforeInstall.sh', 'gone.sh'));
  const missing = await deploying({ directory }, () => GO);
  expect(await missing.end()).toBe('Failed');
  expect(missing.failure()?.diagnostics).toMatchObject({
    errorCode: 'ScriptMissing',
    message: 'Script does not exist at specified location: scripts/gone.sh',
  });
  writeFileSync(path, spec.replace('timeout: 600', 'runas: deployer'));
  const other = await deploying({ directory }, () => GO);
  await expect(other.end()).rejects.toThrow(/the simulated agent cannot use it[\s\S]*runas/);
});

it('the same seed gives the same deployment, however fast the processes are', async () => {
  const script = `
for n in 1 2 3; do
  for ((i = 0; i < RANDOM; i++)); do :; done
  sleep $n
  echo "$n at $(date +%s)"
done
systemctl stop app`;
  const run = async () => {
    const { end, lines, journal } = await deploying(
      {
        // At the first event all instances are at the same instant.
        directory: writeRevision({ ApplicationStop: script, ApplicationStart: 'systemctl --now start app' }),
        fleet: { instances: 4, group: { deploymentConfigName: 'CodeDeployDefault.AllAtOnce' } },
      },
      () => GO,
    );
    expect(await end()).toBe('Succeeded');
    return { lines, journal: journal.entries };
  };
  expect(await run()).toEqual(await run());
});

const SIGN = `
token=$(curl -sf -X PUT -H 'x-aws-ec2-metadata-token-ttl-seconds: 60' "$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest/api/token")
ask() { curl -sf -H "x-aws-ec2-metadata-token: $token" "$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest/meta-data/$1"; }
credentials=$(ask iam/security-credentials/instance-role)
of() { sed -n "s/.*\\"$1\\" : \\"\\([^\\"]*\\)\\".*/\\1/p" <<<"$credentials"; }
key=$(of AccessKeyId) secret=$(of SecretAccessKey) session=$(of Token)
post() { curl -s -o /dev/null -w '%{http_code}' -H "x-amz-security-token: \${token_sent:-$session}" -d '{"act":"gate"}' "$@" "$QUIESCE_HOOK_URL"; }
`;

it.each([
  ['nothing', `post --aws-sigv4 aws:amz:eu-west-1:lambda --user "$key:$secret"`, '200'],
  ['the signature', 'post', '403'],
  ['the secret', `post --aws-sigv4 aws:amz:eu-west-1:lambda --user "$key:\${secret}x"`, '403'],
  ['the key', `post --aws-sigv4 aws:amz:eu-west-1:lambda --user "ASIAUNKNOWN:$secret"`, '403'],
  [
    'the session token',
    `token_sent=x post --aws-sigv4 aws:amz:eu-west-1:lambda --user "$key:$secret"`,
    '403',
  ],
  ['the service', `post --aws-sigv4 aws:amz:eu-west-1:s3 --user "$key:$secret"`, '403'],
  [
    'the body after it was signed',
    `signed=$(curl -sv --aws-sigv4 aws:amz:eu-west-1:lambda --user "$key:$secret" -H "x-amz-security-token: $session" -d '{"act":"gate"}' "$QUIESCE_HOOK_URL" 2>&1 -o /dev/null | tr -d '\\r' | sed -n 's/^> \\(authorization\\|x-amz-date\\): /\\1: /Ip')
     post -H "$(sed -n 1p <<<"$signed")" -H "$(sed -n 2p <<<"$signed")" -d '{"act":"before"}'`,
    '403',
  ],
])('D9: a call to the function URL in which %s is wrong', async (_, call, status) => {
  const directory = writeRevision({ BeforeInstall: `${SIGN}\n${call}` });
  const { end, output } = await deploying({ directory }, () => GO);
  expect(await end()).toBe('Succeeded');
  expect(output.at(-1)).toBe(`[stdout]${status}`);
});

it('D48: a machine and the function URL answer to no other Host, and metadata only with a token', async () => {
  const directory = writeRevision({
    BeforeInstall: `
code() { curl -s -o /dev/null -w '%{http_code}\\n' "$@"; }
code -H 'Host: evil.example' "$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest/api/token" -X PUT
code -H 'Host: evil.example' "$QUIESCE_HOOK_URL"
code "$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest/meta-data/instance-id"`,
  });
  const { end, output } = await deploying({ directory }, () => GO);
  await end();
  expect(output.slice(-3)).toEqual(['[stdout]403', '[stdout]403', '[stdout]401']);
});

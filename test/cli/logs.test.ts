import { expect, test } from 'vitest';
import type { LogsReport } from '../../local/cli/logs.ts';
import { serveShop } from './helpers/served.ts';

const shop = serveShop(300);
const BUCKET = 'quiesce-logs-111122223333-eu-west-1';
const enable = (...args: readonly string[]) => shop().quiesce('logs', 'enable', ...args);

test('D43: the plan says what is missing and changes nothing', async () => {
  const { calls } = shop();
  calls.length = 0;
  const { code, stdout, stderr } = await enable('web');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`Health check logs of web to s3://${BUCKET}/AWSLogs/111122223333/: 5 changes to make.

  create-bucket      ${BUCKET}, encrypted by S3 and without public access
  delete-old         a lifecycle rule deletes what is 30 days old
  let-delivery-in    a policy: load balancers of this account may put objects under AWSLogs/111122223333/
  tell-event-bridge  of new objects of ${BUCKET}
  switch-on          the attributes health_check_logs.s3.* of the load balancer

Nothing was changed: add --apply to do it.
`);
  for (const { action } of calls) expect(action).toMatch(/^(Describe|Get|Head)/);
});

test('--apply makes the changes, once, and the function reads what the nodes then write', async () => {
  const { account } = shop().account.standing;
  const [loadBalancer] = account.loadBalancing.loadBalancers();
  const { code, stdout, stderr } = await enable(loadBalancer?.arn ?? '', '--days', '7', '--apply');
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/: 5 changes made\.$/m);
  expect(loadBalancer?.healthCheckLogs).toEqual({ bucket: BUCKET, prefix: '' });
  expect(account.storage.bucket(BUCKET)).toMatchObject({
    encryption: 'AES256',
    lifecycle: [{ Expiration: { Days: 7 } }],
  });
  const again = await enable('web', '--apply');
  expect(again.stdout).toMatch(/: nothing is missing\.\n$/);
  await expect
    .poll(() => shop().account.stack.lambda.logs.some(({ line }) => line.includes('health-check-log.read')), {
      timeout: 20_000,
    })
    .toBe(true);
});

test('another bucket, which is there: what it has is kept, and the parameter of the stack is named', async () => {
  const { storage } = shop().account.standing.account;
  const bucket = storage.createBucket('our-logs');
  const Principal = { AWS: 'arn:aws:iam::111122223333:role/reader' };
  const theirs = { Sid: 'Theirs', Effect: 'Allow', Principal, Action: 's3:GetObject', Resource: 'x' };
  bucket.policy = JSON.stringify({ Version: '2012-10-17', Statement: [theirs] });
  bucket.publicAccess = {};
  const told = await enable('web', '--bucket', 'our-logs', '--prefix', 'balancers/', '--apply');
  expect(told.stdout).toContain(
    'one statement more: load balancers of this account may put objects under balancers/',
  );
  expect(told.stdout).toContain('when its parameter HealthCheckLogBucket is our-logs.');
  expect(JSON.parse(bucket.policy).Statement).toEqual([
    theirs,
    expect.objectContaining({ Action: 's3:PutObject' }),
  ]);
  expect(bucket.publicAccess.BlockPublicPolicy).toBe(true);
  expect(bucket.lifecycle).toBeUndefined();
  // Where they go already is where they stay.
  const report: LogsReport = JSON.parse((await enable('web', '--json')).stdout);
  expect(report).toMatchObject({
    format: 'quiesce.logs/1',
    bucket: 'our-logs',
    prefix: 'balancers',
    steps: [],
    applied: false,
  });
});

const TARGET_GROUP = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1';

test.each([
  [2, [], /^Name one load balancer/],
  [2, ['web', 'more'], /^Name one load balancer/],
  [2, ['web', '--days', 'many'], /'many' is no number of days/],
  [2, ['web', '--prefix', 'AWSLogs/x'], /AWS adds AWSLogs/],
  [2, ['web', '--prefix', '/a'], /'\/a' has a slash too many/],
  [2, ['web', '--prefix', 'a//b'], /'a\/\/b' has a slash too many/],
  [2, ['web', '--bucket', 'My_Bucket'], /'My_Bucket' is no name of a bucket/],
  [2, [TARGET_GROUP], /targetgroup\/web\/1 is no ARN of a load balancer/],
  [1, ['none'], /^InvalidRequest: There is no load balancer none/],
  [1, ['net'], /^InvalidRequest: net is no Application Load Balancer/],
  [1, ['web', '--bucket', 'sealed'], /^InvalidRequest: Bucket sealed is encrypted with keys of KMS/],
  [1, ['web', '--bucket', 'open'], /^InvalidRequest: Bucket open has a policy that lets everybody in/],
] as const)('ends with %i: %j', async (expected, args, said) => {
  const { account } = shop().account.standing;
  if (args[0] === 'net') account.loadBalancing.addLoadBalancer({ name: 'net', type: 'network', zones: [] });
  if (args[2] === 'sealed') account.storage.createBucket('sealed').encryption = 'aws:kms';
  if (args[2] === 'open')
    account.storage.createBucket('open').policy = JSON.stringify({
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'x' }],
    });
  const { code, stderr } = await enable(...args);
  expect(stderr).toMatch(said);
  expect(code).toBe(expected);
});

test('another word than enable is named', async () => {
  expect(await shop().quiesce('logs', 'enabel', 'web')).toMatchObject({
    code: 2,
    stderr: 'There is no logs enabel: use quiesce logs enable LOAD_BALANCER. Did you mean enable?\n',
  });
});

test("the stack's own name, of which somebody else has made a bucket, is not written to", async () => {
  const { account } = shop().account.standing;
  const storage: { readonly bucket: (name: string) => object } = account.storage;
  Object.assign(storage.bucket(BUCKET), { owner: '999999999999' });
  const { code, stderr } = await enable('web', '--bucket', BUCKET, '--apply');
  expect(stderr).toMatch(/is there and may not be looked at: it is another account's/);
  expect(code).toBe(1);
});

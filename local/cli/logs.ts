import { loadBalancerAttributes } from '../../functions/core/aws/elastic-load-balancing.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { didYouMean } from './did-you-mean.ts';
import { counted, document, table, wrap } from './format.ts';
import { applyStep, findBucket, findLoadBalancer } from './logs-bucket.ts';
import {
  type FoundLogs,
  folderOf,
  type LogsStep,
  type LogsWanted,
  planLogs,
  remarksOnDays,
} from './logs-plan.ts';
import { readOnly } from './reading-only.ts';

const options = {
  bucket: {
    type: 'string',
    value: 'NAME',
    about:
      'The bucket, in the Region of the load balancer. Unless given the one to which its logs go already, else quiesce-logs-ACCOUNT-REGION, to which the stack listens by itself.',
  },
  prefix: {
    type: 'string',
    value: 'PREFIX',
    mayBeEmpty: true,
    about: 'What the names of the files begin with; nothing unless given.',
  },
  days: {
    type: 'string',
    value: 'NUMBER',
    about:
      'After how many days a bucket that is made now deletes its logs, or quiesce-logs-ACCOUNT-REGION where nothing deletes them yet. 30 unless given. Another one that is there is left as it is.',
  },
  apply: {
    type: 'boolean',
    default: false,
    about: 'Make the changes. Without it they are shown, and nothing is changed.',
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (LogsReport in local/cli/logs.ts) and nothing else.',
  },
} as const;

/** What `quiesce logs --json` prints. */
export interface LogsReport extends LogsWanted {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.logs/1';
  readonly steps: readonly LogsStep[];
  /** What was asked for and is not done. */
  readonly remarks: readonly string[];
  readonly applied: boolean;
}

export const logsCommand: Command = {
  name: 'logs',
  about:
    "Switches the health check logs of an Application Load Balancer on, where the stack reads them: the bucket, who may write to it, its events, and the load balancer's attributes. It shows what is missing, and does it with --apply. What is there is added to, never replaced.",
  operands: 'enable LOAD_BALANCER',
  operandsAbout: 'LOAD_BALANCER is a name or an ARN.',
  operandChoices: ['enable'],
  options,
  examples: [
    'quiesce logs enable web',
    'quiesce logs enable web --bucket our-logs --prefix balancers --apply',
  ],
  endsWith: {
    ok: 'The changes are shown, or made; or there are none to make.',
    failed: 'They cannot be made, or something could not be read.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('logs', options, args, true);
  const [act, named = '', ...more] = positionals;
  if (act !== undefined && act !== 'enable')
    throw new UsageError(
      `There is no logs ${act}: use quiesce logs enable LOAD_BALANCER.${didYouMean(act, ['enable'])}`,
    );
  if (named === '' || more.length > 0)
    throw new UsageError('Name one load balancer: quiesce logs enable LOAD_BALANCER.');
  judge({ ...values, named });
  if (!values.apply) readOnly();
  const { arn, name } = await findLoadBalancer(named);
  const logs = foundLogs(await loadBalancerAttributes(arn));
  const bucket = values.bucket ?? (logs.bucket || ownBucket(arn));
  const wanted: LogsWanted = {
    loadBalancerArn: arn,
    bucket,
    own: bucket === ownBucket(arn),
    prefix: (values.prefix ?? (values.bucket === undefined ? logs.prefix : '')).replace(/\/$/, ''),
    days: Number(values.days ?? 30),
  };
  const found = await findBucket(wanted);
  const steps = planLogs(wanted, found, logs);
  const remarks = values.days === undefined ? [] : remarksOnDays(wanted, found, steps);
  if (values.apply) for (const step of steps) await applyStep(step, wanted);
  const report: LogsReport = { format: 'quiesce.logs/1', ...wanted, steps, remarks, applied: values.apply };
  process.stdout.write(values.json ? document(report) : describe(name, report));
  return exitCode.ok;
}

interface Given {
  readonly named: string;
  readonly bucket?: string | undefined;
  readonly prefix?: string | undefined;
  readonly days?: string | undefined;
}

/** S3's rules for the names of buckets, as far as letters go. */
const BUCKET_NAME = /^(?!\d+(\.\d+){3}$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Before anything is read from AWS. @throws UsageError */
function judge({ named, bucket, prefix = '', days }: Given): void {
  if (named.startsWith('arn:') && !named.includes(':loadbalancer/'))
    throw new UsageError(`${named} is no ARN of a load balancer: name the load balancer itself.`);
  if (days !== undefined && !/^[1-9]\d{0,3}$/.test(days))
    throw new UsageError(`--days: '${days}' is no number of days.`);
  if (bucket !== undefined && !BUCKET_NAME.test(bucket))
    throw new UsageError(
      `--bucket: '${bucket}' is no name of a bucket: 3 to 63 lower-case letters, digits, hyphens and dots, with a letter or a digit at both ends.`,
    );
  if (prefix.includes('AWSLogs')) throw new UsageError('--prefix: AWS adds AWSLogs to it by itself.');
  if (prefix.startsWith('/') || prefix.includes('//'))
    throw new UsageError(`--prefix: '${prefix}' has a slash too many: write it as logs/web.`);
}

const foundLogs = (attributes: Readonly<Record<string, string>>): FoundLogs => ({
  enabled: attributes['health_check_logs.s3.enabled'] === 'true',
  bucket: attributes['health_check_logs.s3.bucket'] ?? '',
  prefix: attributes['health_check_logs.s3.prefix'] ?? '',
});

/** As template.yaml names it. */
function ownBucket(arn: string): string {
  const [, , , region, account] = arn.split(':');
  return `quiesce-logs-${account}-${region}`;
}

function describe(name: string, report: LogsReport): string {
  const { steps, remarks, applied, bucket, own } = report;
  const where = `s3://${bucket}/${folderOf(report)}`;
  const done =
    steps.length === 0
      ? 'nothing is missing'
      : `${counted(steps.length, 'change')} ${applied ? 'made' : 'to make'}`;
  const paragraphs = [
    [`Health check logs of ${name} to ${where}: ${done}.`],
    table(
      steps.map(step => [`  ${step.kind}`, said(step, report)]),
      'to the left',
    ),
    remarks.flatMap(remark => wrap(`! ${remark}`, 98)),
    ...(own ? [] : [wrap(`The stack reads them when its parameter HealthCheckLogBucket is ${bucket}.`, 98)]),
    ...(steps.length > 0 && !applied ? [['Nothing was changed: add --apply to do it.']] : []),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

function said(step: LogsStep, { bucket, ...wanted }: LogsReport): string {
  switch (step.kind) {
    case 'create-bucket':
      return `${bucket}, encrypted by S3 and without public access`;
    case 'delete-old':
      return `a lifecycle rule deletes what is ${counted(step.days, 'day')} old`;
    case 'block-public-access':
      return `of ${bucket}, in all four ways`;
    case 'let-delivery-in':
      return `${step.extended ? 'one statement more' : 'a policy'}: load balancers of this account may put objects under ${folderOf({ bucket, ...wanted })}`;
    case 'tell-event-bridge':
      return `of new objects of ${bucket}`;
    case 'switch-on':
      return 'the attributes health_check_logs.s3.* of the load balancer';
  }
}

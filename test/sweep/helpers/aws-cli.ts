import * as autoscaling from '@aws-sdk/client-auto-scaling';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as ec2 from '@aws-sdk/client-ec2';
import * as elbv2 from '@aws-sdk/client-elastic-load-balancing-v2';
import * as stepfunctions from '@aws-sdk/client-sfn';
import type { Transport } from '../../../local/wire/invocation.ts';

/** The AWS CLI's names of services, with the client that is written from the same model. */
const services: Readonly<Record<string, { readonly module: object; readonly client: string }>> = {
  autoscaling: { module: autoscaling, client: 'AutoScalingClient' },
  dynamodb: { module: dynamodb, client: 'DynamoDBClient' },
  ec2: { module: ec2, client: 'EC2Client' },
  elbv2: { module: elbv2, client: 'ElasticLoadBalancingV2Client' },
  stepfunctions: { module: stepfunctions, client: 'SFNClient' },
};

/** Makes the call that a line for a shell describes, as the AWS CLI would: from its words alone. */
export async function runLine(line: string, transport: Transport): Promise<void> {
  const [program, service = '', operation = '', ...options] = words(line);
  const known = services[service];
  if (program !== 'aws' || !known) throw new Error(`no call of the AWS CLI: ${line}`);
  const Client = member<new (settings: object) => Sending>(known.module, known.client);
  const Command = member<new (input: object) => object>(known.module, `${pascal(operation)}Command`);
  const input = inputOf(options, service === 'stepfunctions', memberNames(known.module, pascal(operation)));
  const client = new Client({
    region: 'local',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'operator' },
    requestHandler: transport,
    maxAttempts: 1,
  });
  await client.send(new Command(input));
}

interface Sending {
  send(command: object): Promise<unknown>;
}

function member<T>(module: object, name: string): T {
  const found: unknown = Reflect.get(module, name);
  if (found === undefined) throw new Error(`AWS has no ${name}`);
  return found as T;
}

/** Words of a POSIX shell, of which only single quotes and an escaped one are used. */
const words = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|\\(')/g, (_, quoted, escaped) => quoted ?? escaped),
  );

/** The CLI's `xform_name`, back to front. */
const pascal = (kebab: string): string =>
  kebab.replace(/(^|-)([a-z])/g, (_, __, letter) => letter.toUpperCase());

/** The members of an operation's input, by the client's own schema. */
function memberNames(module: object, operation: string): readonly string[] {
  const [, , , , input] = member<readonly unknown[]>(module, `${operation}$`);
  const schema = typeof input === 'function' ? input() : input;
  const names = Array.isArray(schema) ? schema[4] : undefined;
  if (!Array.isArray(names)) throw new Error(`the input of ${operation} has no members`);
  return names;
}

const LISTS = new Set(['InstanceIds', 'Targets', 'ScalingProcesses']);

function inputOf(options: readonly string[], isCamel: boolean, members: readonly string[]): object {
  const input: Record<string, unknown> = {};
  for (let at = 0; at < options.length; ) {
    const option = options[at++]?.replace(/^--/, '') ?? '';
    const values: string[] = [];
    while (at < options.length && !options[at]?.startsWith('--')) values.push(options[at++] ?? '');
    const negated = values.length === 0 && option.startsWith('no-');
    const name = pascal(option.replace(/^no-/, ''));
    const key = isCamel ? name.charAt(0).toLowerCase() + name.slice(1) : name;
    if (!members.includes(key))
      throw new Error(`the operation takes no --${option}: it has ${members.join()}`);
    if (values.length === 0) input[key] = !negated;
    else input[key] = LISTS.has(name) ? values.map(valueIn) : valueIn(values.join(' '), name);
  }
  return input;
}

function valueIn(text: string, name: unknown): unknown {
  if (text.startsWith('{')) return JSON.parse(text);
  if (/^[A-Z]\w*=/.test(text))
    return Object.fromEntries(
      text.split(',').map(pair => {
        const [key = '', value = ''] = pair.split('=');
        return [key, key === 'Port' ? Number(value) : value];
      }),
    );
  return name === 'DurationSeconds' ? Number(text) : text;
}

import { TaskFailure } from '../states/failure.ts';
import { isObject, type Json } from '../states/json.ts';
import type { Service } from '../wire/contract.ts';
import type { Transport } from '../wire/invocation.ts';
import { type Shape, shapesOf } from '../wire/shapes.ts';

/** `aws-sdk:<name>` in a machine, to IAM's prefix and to the prefix of Step Functions' error names. */
const INTEGRATIONS: ReadonlyMap<string, { readonly service: string; readonly errors: string }> = new Map([
  ['autoscaling', { service: 'autoscaling', errors: 'AutoScaling' }],
  ['cloudwatch', { service: 'cloudwatch', errors: 'CloudWatch' }],
  ['codedeploy', { service: 'codedeploy', errors: 'CodeDeploy' }],
  ['dynamodb', { service: 'dynamodb', errors: 'DynamoDb' }],
  ['ec2', { service: 'ec2', errors: 'Ec2' }],
  ['elasticloadbalancingv2', { service: 'elasticloadbalancing', errors: 'ElasticLoadBalancingV2' }],
  ['sfn', { service: 'states', errors: 'Sfn' }],
]);

interface SdkClient {
  send(command: object): Promise<object>;
}

type ClientClass = new (settings: object) => SdkClient;
type CommandClass = new (input: object) => object;

/** Step Functions' AWS SDK integrations: any action of the account's services, called by a machine's Task. */
export class SdkIntegration {
  readonly #find: (name: string) => Service | undefined;
  readonly #region: string;

  /** `find` gives a service of the account by IAM's prefix. */
  constructor(find: (name: string) => Service | undefined, region: string) {
    this.#find = find;
    this.#region = region;
  }

  /**
   * Calls `action` (`getItem`) of `name` (`dynamodb`). All members of arguments and answer begin with a capital.
   *
   * @throws TaskFailure named as Step Functions names the service's error
   * @throws Error when the machine asks for what does not exist: Step Functions would have refused its definition
   */
  async call(name: string, action: string, args: Json, transport: Transport): Promise<Json> {
    const integration = INTEGRATIONS.get(name);
    const service = integration && this.#find(integration.service);
    if (!service) throw new Error(`aws-sdk:${name}:${action} calls a service that the account does not have`);
    const shapes = shapesOf(service).operation(capitalised(action));
    if (!shapes) throw new Error(`aws-sdk:${name}:${action} does not exist`);
    const { Client, Command } = classesOf(service.client, capitalised(action));
    const client = new Client({
      region: this.#region,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: transport,
      maxAttempts: 1,
    });
    const input = toInput(shapes.input, args, `aws-sdk:${name}:${action}`);
    const output = await client.send(new Command({ ...Object(input) })).catch((error: unknown) => {
      throw asTaskFailure(error, integration.errors, service.client);
    });
    return toAnswer(shapes.output, output);
  }
}

function classesOf(client: object, action: string): { Client: ClientClass; Command: CommandClass } {
  const exported = Object.entries(client);
  const clientClass = exported.find(([name, value]) => /^[A-Z]\w*Client$/.test(name) && isClass(value))?.[1];
  const commandClass = Reflect.get(client, `${action}Command`);
  if (!isClass(clientClass) || !isClass(commandClass)) throw new Error(`the SDK has no ${action}Command`);
  return { Client: clientClass as ClientClass, Command: commandClass as CommandClass };
}

const isClass = (value: unknown): value is new (argument: object) => object => typeof value === 'function';

/** The SDK's own member names and dates. @throws Error on a member that the action does not have */
function toInput(shape: Shape, value: Json, path: string): unknown {
  if (value === null) return value;
  if (shape.kind === 'timestamp') return new Date(String(value));
  if (shape.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => toInput(shape.item, item, `${path}[${index}]`));
  }
  if (shape.kind === 'map' && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, toInput(shape.value, entry, `${path}.${key}`)]),
    );
  }
  if (shape.kind === 'structure' && isObject(value)) {
    const members = new Map([...shape.members.values()].map(member => [capitalised(member.name), member]));
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => {
        const member = members.get(key);
        if (!member) throw new Error(`the field ${key} is not supported by ${path}`);
        return [member.name, toInput(member.shape, entry, `${path}.${key}`)];
      }),
    );
  }
  return value;
}

function toAnswer(shape: Shape, value: unknown): Json {
  if (value instanceof Date) return value.toISOString();
  if (shape.kind === 'list' && Array.isArray(value)) return value.map(item => toAnswer(shape.item, item));
  if (shape.kind === 'map' && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, toAnswer(shape.value, entry)]),
    );
  }
  if (shape.kind === 'structure' && isObject(value)) {
    const present = [...shape.members.values()].filter(({ name }) => value[name] !== undefined);
    return Object.fromEntries(
      present.map(member => [capitalised(member.name), toAnswer(member.shape, value[member.name])]),
    );
  }
  return value as Json;
}

/** Errors that the client does not model have the service's general name, as in the SDK that Step Functions uses. */
function asTaskFailure(error: unknown, prefix: string, client: object): unknown {
  if (!(error instanceof Error) || !('$metadata' in error)) return error;
  const name = Reflect.has(client, error.name) ? error.name : `${prefix}Exception`;
  return new TaskFailure(`${prefix}.${name}`, `${error.message} (Service: ${prefix})`);
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

import type { Account } from '../account/account.ts';
import type { Bucket } from '../account/simple-storage.ts';
import { uuid } from '../account/uuid.ts';
import type { Random } from '../clock/random.ts';
import { isList, isObject, type Json, type JsonObject } from '../stack/json.ts';
import {
  type Made,
  ResourceFailed,
  type ResourceKind,
  type StackIdentity,
  type Standing,
} from './resource-kind.ts';

export interface CustomResourcesSettings {
  readonly account: Account;
  /** As CloudFormation invokes a function: without waiting for it. */
  readonly invoke: (functionArn: string, event: JsonObject) => void;
  /** How often a request is delivered; once unless given. */
  readonly deliveries?: number;
}

export type RequestType = 'Create' | 'Update' | 'Delete';

/** One request to the provider of a custom resource, and every answer to it. */
export interface Request {
  readonly type: RequestType;
  readonly logicalId: string;
  readonly event: JsonObject;
  /** The texts that were PUT to its ResponseURL, in order. The first one counts. */
  readonly answers: string[];
  /** Was there none within ServiceTimeout? */
  timedOut: boolean;
}

type Wanted = Pick<Standing, 'logicalId' | 'type' | 'properties'>;

/** GUIDE: ServiceTimeout is 1 to 3,600 s, by default 3,600. */
const LONGEST_SECONDS = 3600;
/** As in requests that others have published: two hours. */
const URL_SECONDS = 7200;
/** GUIDE, custom resource response objects. */
const MOST_ANSWER_BYTES = 4096;
/** A second delivery comes so long after the first at the most. Ours: within any machine's work. */
const DELIVERED_WITHIN_MS = 20_000;

/** CloudFormation's side of custom resources: requests, presigned URLs for their answers, and the wait for those. */
export class CustomResources implements ResourceKind {
  readonly requests: Request[] = [];
  /** Whatever a provider has done that CloudFormation's rules forbid. */
  readonly faults: string[] = [];
  readonly #settings: CustomResourcesSettings;
  readonly #random: Random;
  readonly #bucket: Bucket;
  readonly #byKey = new Map<string, { readonly request: Request; readonly hear: (answer: string) => void }>();

  constructor(settings: CustomResourcesSettings) {
    const { storage, world, onEvent } = settings.account;
    this.#settings = settings;
    this.#random = world.random.fork('custom-resources');
    const name = `cloudformation-custom-resource-response-${world.region.replaceAll('-', '')}`;
    this.#bucket = storage.createBucket(name, 'aws');
    this.#bucket.notifications = { EventBridgeConfiguration: {} };
    onEvent(({ source, detail }) => {
      const { bucket, object } = detail as {
        readonly bucket?: Bucket;
        readonly object?: { readonly key: string };
      };
      if (source === 'aws.s3' && bucket?.name === name && object) this.#heard(object.key);
    });
  }

  async create(wanted: Wanted, stack: StackIdentity): Promise<Made> {
    return this.#ask('Create', wanted, stack, {});
  }

  async update(now: Standing, properties: JsonObject, stack: StackIdentity): Promise<Made> {
    return this.#ask('Update', { ...now, properties }, stack, {
      PhysicalResourceId: now.physicalId,
      OldResourceProperties: texts(now.properties),
    });
  }

  async remove(now: Standing, stack: StackIdentity): Promise<void> {
    await this.#ask('Delete', now, stack, { PhysicalResourceId: now.physicalId });
  }

  async #ask(type: RequestType, wanted: Wanted, stack: StackIdentity, more: JsonObject): Promise<Made> {
    const { account, invoke, deliveries = 1 } = this.#settings;
    const { clock } = account.world;
    const { logicalId, properties } = wanted;
    const RequestId = uuid(this.#random);
    const key = `${stack.id}|${logicalId}|${RequestId}`;
    const event = {
      RequestType: type,
      ServiceToken: String(properties.ServiceToken),
      ResponseURL: this.#urlOf(key),
      StackId: stack.id,
      RequestId,
      LogicalResourceId: logicalId,
      ResourceType: wanted.type,
      ...more,
      ResourceProperties: texts(properties),
    };
    const request: Request = { type, logicalId, event, answers: [], timedOut: false };
    this.requests.push(request);
    const seconds = Number(properties.ServiceTimeout ?? LONGEST_SECONDS);
    if (!(seconds >= 1 && seconds <= LONGEST_SECONDS))
      throw new Error(`${logicalId}: ServiceTimeout is 1 to ${LONGEST_SECONDS}`);
    const answered = new Promise<string>(hear => this.#byKey.set(key, { request, hear }));
    const silence = new Promise<undefined>(over => {
      const timer = clock.after(seconds * 1000, () => over(undefined));
      void answered.then(() => timer.cancel());
    });
    for (let delivery = 0; delivery < deliveries; delivery++)
      clock.after(delivery === 0 ? 0 : this.#random.whole(0, DELIVERED_WITHIN_MS), () =>
        invoke(event.ServiceToken, event),
      );
    const answer = await Promise.race([answered, silence]);
    if (answer !== undefined) return this.#read(answer, request);
    request.timedOut = true;
    throw new ResourceFailed(
      `CloudFormation did not receive a response from your custom resource. Please check your logs for requestId [${RequestId}].`,
    );
  }

  #urlOf(key: string): string {
    const { region, clock } = this.#settings.account.world;
    const signature = {
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Date': clock
        .date()
        .toISOString()
        .replace(/[-:]|\.\d+/g, ''),
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Expires': String(URL_SECONDS),
      'X-Amz-Credential': `AKIAIOSFODNN7EXAMPLE/${region}/s3/aws4_request`,
      'X-Amz-Signature': this.#random.whole(0, 2 ** 32).toString(16),
    };
    const host = `${this.#bucket.name}.s3.${region}.amazonaws.com`;
    return `https://${host}/${encodeURIComponent(key)}?${new URLSearchParams(signature)}`;
  }

  #heard(key: string): void {
    const asked = this.#byKey.get(key);
    const stored = this.#bucket.objects.get(key);
    if (!asked || !stored) return;
    const { request, hear } = asked;
    const answer = new TextDecoder().decode(stored.bytes);
    if (request.timedOut) this.faults.push(`${request.type} ${request.logicalId} was answered too late`);
    request.answers.push(answer);
    hear(answer);
  }

  /** @throws ResourceFailed when the answer says so, or is none that CloudFormation takes */
  #read(text: string, { type, logicalId, event }: Request): Made {
    const answer: Json = JSON.parse(text);
    const wrong = isObject(answer) ? wrongIn(answer, event) : ['it is no object'];
    if (text.length > MOST_ANSWER_BYTES) wrong.push(`it has ${text.length} bytes`);
    this.faults.push(...wrong.map(what => `the answer to ${type} ${logicalId}: ${what}`));
    if (!isObject(answer) || wrong.length > 0)
      throw new ResourceFailed(`Invalid response: ${wrong.join(', ')}`);
    const { Status, Reason, PhysicalResourceId, Data = {} } = answer;
    if (Status === 'FAILED') throw new ResourceFailed(String(Reason), String(PhysicalResourceId));
    const attributes = Object.entries(isObject(Data) ? Data : {}).map(([name, value]) => [
      name,
      String(value),
    ]);
    return { physicalId: String(PhysicalResourceId), attributes: Object.fromEntries(attributes) };
  }
}

/** GUIDE, custom resource response objects. */
function wrongIn(answer: JsonObject, event: JsonObject): string[] {
  const { Status, Reason, PhysicalResourceId } = answer;
  return [
    ...(Status === 'SUCCESS' || Status === 'FAILED' ? [] : [`Status is ${String(Status)}`]),
    ...(Status === 'FAILED' && !Reason ? ['it has no Reason'] : []),
    ...(typeof PhysicalResourceId === 'string' && PhysicalResourceId ? [] : ['it has no PhysicalResourceId']),
    ...['StackId', 'RequestId', 'LogicalResourceId']
      .filter(name => answer[name] !== event[name])
      .map(name => `${name} is not the request's`),
  ];
}

/** CloudFormation sends every number and every boolean as text. */
function texts(value: JsonObject): JsonObject {
  const text = (one: Json): Json => {
    if (isList(one)) return one.map(text);
    return isObject(one) ? texts(one) : String(one);
  };
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, text(one)]));
}

/** Who makes a call: a Lambda function, a state machine, an event rule, Auto Scaling itself, or a person at the keyboard. */
export interface Caller {
  readonly kind: 'function' | 'machine' | 'rule' | 'service' | 'operator';
  /** The logical id in template.yaml; a free name for services and operators. */
  readonly name: string;
}

/** One call to an AWS API, as the account sees it. */
export interface Call {
  readonly service: string;
  readonly action: string;
  readonly caller: Caller;
  readonly at: number;
}

/**
 * An error that the service answers. `code` is AWS's own, as on the wire or as the SDK names the exception.
 * `status` is the HTTP status of an error that the client does not model; a modeled one has its model's.
 * `members` are the modeled members besides the message, for example `CancellationReasons`.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly status: number;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, status = 400, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.members = members;
  }
}

/** The answer never reaches the caller, whatever the service did: thrown by a gate, met by the SDK as a time-out. */
export class NoAnswer extends Error {
  /** The name by which the SDK knows a transient time-out, so that it tries again. */
  override readonly name = 'TimeoutError';
}

/** One request as it was sent. Header names are in lower case. */
export interface WireRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Present unless it is a POST, by which all services but S3 are called. */
  readonly rest?: RestRequest;
}

/** What matters in a request that says by its method and address what it asks for. */
export interface RestRequest {
  readonly method: string;
  readonly host: string;
  /** As it was sent, percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes are what an object holds. */
  readonly body: string | Uint8Array;
}

export type TextAnswer = WireAnswer & { readonly body: string };

/**
 * One simulated service: how it speaks, and what it does. Inputs and outputs are the SDK's own command types
 * (`DescribeInstancesCommandInput` and so on); `client` is the SDK client's module, whose schemas are the wire contract.
 */
export interface Service {
  /** IAM's prefix: `ec2`, `elasticloadbalancing`, `autoscaling`, `codedeploy`, `states`, `dynamodb`, `cloudwatch`, `lambda`, `s3`. */
  readonly name: string;
  readonly client: object;
  readonly protocol:
    | { readonly kind: 'ec2-query' | 'query'; readonly version: string }
    | { readonly kind: 'json'; readonly target: string; readonly jsonVersion: '1.0' | '1.1' }
    | { readonly kind: 'rest-xml' };
  readonly operations: { readonly [action: string]: (input: never, call: Call) => object | Promise<object> };
  /**
   * Answers the actions that `operations` lacks, in wire bytes; for the json protocols. Gates see the parsed bodies.
   * Work in it that leaves the microtask queue has to be held (`clock.hold`).
   */
  readonly raw?: (request: WireRequest, call: Call) => Promise<TextAnswer>;
}

/** Stands before every operation: permissions, faults, counting, latency. It throws a ServiceError to refuse. */
export interface Gate {
  before?(call: Call, input: Readonly<Record<string, unknown>>): void | Promise<void>;
  after?(call: Call, input: Readonly<Record<string, unknown>>, output: object): void | Promise<void>;
  /** Takes the act's place: `perform` is the act, for the whole input or for a part of it. */
  around?(
    call: Call,
    input: Readonly<Record<string, unknown>>,
    perform: (input: Readonly<Record<string, unknown>>) => Promise<object>,
  ): Promise<object>;
}

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

/** An error that the service answers. `code` is AWS's own; `status` the HTTP status. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * One simulated service: how it speaks, and what it does. Inputs and outputs are the SDK's own command types
 * (`DescribeInstancesCommandInput` and so on); `client` is the SDK client's module, whose schemas are the wire contract.
 */
export interface Service {
  /** IAM's prefix: `ec2`, `elasticloadbalancing`, `autoscaling`, `codedeploy`, `states`, `dynamodb`, `cloudwatch`, `lambda`. */
  readonly name: string;
  readonly client: object;
  readonly protocol:
    | { readonly kind: 'ec2-query' | 'query'; readonly version: string }
    | { readonly kind: 'json'; readonly target: string; readonly jsonVersion: '1.0' | '1.1' };
  readonly operations: { readonly [action: string]: (input: never, call: Call) => object | Promise<object> };
}

/** Stands before every operation: permissions, faults, counting, latency. It throws a ServiceError to refuse. */
export interface Gate {
  before?(call: Call, input: Readonly<Record<string, unknown>>): void | Promise<void>;
  after?(call: Call, input: Readonly<Record<string, unknown>>, output: object): void | Promise<void>;
}

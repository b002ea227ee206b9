import type { VirtualClock } from '../clock/virtual-clock.ts';
import {
  type Call,
  type Caller,
  type Gate,
  NoAnswer,
  type Service,
  ServiceError,
  type TextAnswer,
  type WireAnswer,
  type WireRequest,
} from './contract.ts';
import { Faults } from './faults.ts';
import { jsonProtocol } from './json-protocol.ts';
import { parseJson } from './json-values.ts';
import { presigned } from './presigned.ts';
import type { Protocol } from './protocol.ts';
import { awsQueryProtocol, ec2QueryProtocol, readFormHeader } from './query-protocol.ts';
import { RestXmlProtocol } from './rest-xml-protocol.ts';
import { InvalidInput, type OperationShapes, shapesOf } from './shapes.ts';

export interface Account {
  readonly services: readonly Service[];
  /** In the order in which a call passes them; its answer passes them the other way round. */
  readonly gates: readonly Gate[];
  readonly clock: VirtualClock;
}

type Input = Readonly<Record<string, unknown>>;

/** @throws NoAnswer when a gate loses the answer */
export type Dispatch = (request: WireRequest, caller: Caller) => Promise<WireAnswer>;

interface Endpoint {
  readonly service: Service;
  readonly protocol: Protocol;
  readonly shapes: ReadonlyMap<string, OperationShapes>;
}

/**
 * Takes requests to the operation that they name, through the gates.
 *
 * @throws Error when a service has an operation that its client does not know, or two services share an address
 */
export function createDispatch({ services, gates, clock }: Account): Dispatch {
  const endpoints = new Map(services.map(service => [addressOf(service), createEndpoint(service)]));
  if (endpoints.size < services.length) throw new Error('two services share a version or a target');
  const inward = gates.filter(gate => gate.before);
  const outward = gates.filter(gate => gate.after).reverse();
  const around = gates.filter(gate => gate.around).reverse();
  let requests = 0;

  return async (sent, sender) => {
    requests += 1;
    const requestId = `00000000-0000-4000-8000-${String(requests).padStart(12, '0')}`;
    const { address, action: said } = destinationOf(sent);
    const endpoint = endpoints.get(address);
    if (!endpoint) return notHere(address, said, sent, requestId);
    const { service, protocol } = endpoint;
    try {
      const { request, caller } = presigned(sent, clock.now()) ?? { request: sent, caller: sender };
      const action = protocol instanceof RestXmlProtocol ? actionBy(protocol, request) : said;
      const call: Call = { service: service.name, action, caller, at: clock.now() };
      return await perform(endpoint, call, request, requestId);
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      return faultOf(error, protocol, sent, requestId);
    }
  };

  async function perform(
    { service, protocol, shapes }: Endpoint,
    call: Call,
    request: WireRequest,
    requestId: string,
  ): Promise<WireAnswer> {
    if (isCompressed(request)) {
      throw new ServiceError(
        'InvalidContentEncoding',
        'The simulated account does not read compressed bodies.',
      );
    }
    const operation = service.operations[call.action];
    const operationShapes = shapes.get(call.action);
    if (operation && operationShapes) {
      const input = protocol.readInput(operationShapes, request);
      for (const gate of inward) await gate.before?.(call, input);
      const output = await within(call, input, async some => operation(some as never, call));
      // Written before the gates take time, so that it says what was true when the service answered.
      const answer = protocol.answer(operationShapes, output, requestId);
      for (const gate of outward) await gate.after?.(call, input, output);
      return answer;
    }
    if (service.raw) {
      const input = parseObject(request.body);
      for (const gate of inward) await gate.before?.(call, input);
      const answer = await raw(service.raw, request, call, input);
      if (answer.status === 200) {
        const output = parseObject(answer.body);
        for (const gate of outward) await gate.after?.(call, input, output);
      }
      return answer;
    }
    throw new ServiceError(
      protocol.unknownActionCode,
      `The simulated account does not implement ${call.service}:${call.action}.`,
    );
  }

  /** Through the gates that may take the act's place, the first of them outermost. */
  function within(call: Call, input: Input, perform: (input: Input) => Promise<object>): Promise<object> {
    let act = perform;
    for (const gate of around) {
      const inner = act;
      act = async some => (await gate.around?.(call, some, inner)) ?? inner(some);
    }
    return act(input);
  }

  async function raw(
    serve: NonNullable<Service['raw']>,
    request: WireRequest,
    call: Call,
    input: Input,
  ): Promise<TextAnswer> {
    if (around.length === 0) return serve(request, call);
    let served: TextAnswer = { status: 200, headers: {}, body: '{}' };
    let said: object | undefined;
    const output = await within(call, input, async some => {
      served = await serve(some === input ? request : { ...request, body: JSON.stringify(some) }, call);
      said = parseObject(served.body);
      return said;
    });
    return output === said ? served : { ...served, body: JSON.stringify(output) };
  }

  function faultOf(error: unknown, protocol: Protocol, request: WireRequest, requestId: string): WireAnswer {
    try {
      return protocol.fault(asServiceError(error, protocol), request, requestId);
    } catch (mistake) {
      // In the simulated account: the SDK's retries must not hide it.
      clock.fail(mistake);
      return protocol.fault(new ServiceError('InternalFailure', String(mistake), 500), request, requestId);
    }
  }
}

/** @throws what is neither an answer of the service nor the fault of the request */
function asServiceError(error: unknown, { invalidInputCodes }: Protocol): ServiceError {
  if (error instanceof InvalidInput) return new ServiceError(invalidInputCodes[error.problem], error.message);
  if (error instanceof ServiceError) return error;
  throw error;
}

/** What tells services apart on the wire: the target's prefix, or the version of a form. */
function addressOf({ protocol }: Service): string {
  if (protocol.kind === 'rest-xml') return REST;
  return protocol.kind === 'json' ? protocol.target : protocol.version;
}

/** The one service that is called by other methods than POST. */
const REST = 's3';

/** Where a request goes, by its target or its form. */
export function destinationOf(request: WireRequest): { readonly address: string; readonly action: string } {
  if (request.rest) return { address: REST, action: request.rest.query['x-id'] ?? '' };
  const target = request.headers['x-amz-target'];
  if (target !== undefined) {
    const dot = target.lastIndexOf('.');
    return { address: target.slice(0, dot), action: target.slice(dot + 1) };
  }
  const form = readFormHeader(request.body);
  return { address: form?.version ?? '', action: form?.action ?? '' };
}

const actionBy = (protocol: RestXmlProtocol, { rest }: WireRequest): string =>
  (rest && protocol.actionOf(rest)) ?? `${rest?.method} ${rest?.path}?${Object.keys(rest?.query ?? {})}`;

/** S3 keeps an object's encoding beside it; what is in chunks only for the way it cannot be. */
const isCompressed = ({ headers: { 'content-encoding': encoding }, rest }: WireRequest): boolean =>
  encoding !== undefined && (rest === undefined || encoding.includes('aws-chunked'));

function createEndpoint(service: Service): Endpoint {
  const client = shapesOf(service);
  const shapes = Object.keys(service.operations).map((action): [string, OperationShapes] => {
    const operation = client.operation(action);
    if (!operation) throw new Error(`the client of ${service.name} has no operation ${action}`);
    return [action, operation];
  });
  return { service, protocol: protocolOf(service, new Faults(client.errors)), shapes: new Map(shapes) };
}

function protocolOf(service: Service, faults: Faults): Protocol {
  const { protocol } = service;
  switch (protocol.kind) {
    case 'ec2-query':
      return ec2QueryProtocol(faults);
    case 'query':
      return awsQueryProtocol(faults);
    case 'json':
      return jsonProtocol(faults, protocol.jsonVersion);
    case 'rest-xml':
      return new RestXmlProtocol(faults, service);
  }
}

/** A fault in the protocol of the request, for there is no service whose protocol it could be. */
function notHere(address: string, action: string, request: WireRequest, requestId: string): WireAnswer {
  const asked = action
    ? `${action} (${address})`
    : 'a request that is neither a form nor has an x-amz-target';
  const message = `The simulated account has no service that answers ${asked}.`;
  const protocol = request.headers['x-amz-target']
    ? jsonProtocol(new Faults([]), '1.0')
    : awsQueryProtocol(new Faults([]));
  return protocol.fault(new ServiceError(protocol.unknownActionCode, message), request, requestId);
}

function parseObject(body: string): Record<string, unknown> {
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null)
    throw new InvalidInput('malformed', 'The body is not an object.');
  return { ...value };
}

// First, so that SDK modules loaded from here on keep the replaced timers.
import '../clock/lambda-globals.ts';
import { Readable } from 'node:stream';
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import { type Caller, NoAnswer, type WireRequest } from './contract.ts';
import { type Account, createDispatch, destinationOf } from './dispatch.ts';
import { outsideInvocations, type Transport } from './invocation.ts';
import { type Listening, listen } from './server.ts';

export interface WireSettings extends Account {
  /** Who signs with which access key id, on a port. Everybody else is the operator. */
  readonly callers?: ReadonlyMap<string, Caller>;
}

export interface Wire {
  /** In process, as the `requestHandler` of an SDK client. The caller is the operator unless given. */
  transport(caller?: Caller): Transport;
  /** On 127.0.0.1, for any SDK or command line; a free port unless given. */
  listen(port?: number): Promise<Listening>;
}

const operator: Caller = { kind: 'operator', name: 'operator' };

/** Serves the simulated account's services over AWS's own protocols, as the services' clients describe them. */
export function createWire({ callers = new Map(), ...account }: WireSettings): Wire {
  const dispatch = createDispatch(account);
  const { clock } = account;
  return {
    transport: (caller = operator) => ({
      async handle(request, options = {}) {
        if (options.abortSignal?.aborted) throw aborted();
        const answering = outsideInvocations(() => dispatch(toWireRequest(request), caller));
        const answer = await unlessGivenUp(answering, options, clock);
        return {
          response: {
            statusCode: answer.status,
            headers: { ...answer.headers },
            // What an object holds is read as a stream.
            body: typeof answer.body === 'string' ? Buffer.from(answer.body) : Readable.from([answer.body]),
          },
        };
      },
    }),
    listen: (port = 0) =>
      listen({
        port,
        clock,
        answer: (request, accessKeyId) => dispatch(request, callers.get(accessKeyId) ?? operator),
      }),
  };
}

/** The operation that a client asks for, `DescribeInstances`. */
export const actionOf = (request: HttpRequest): string => destinationOf(toWireRequest(request)).action;

function toWireRequest({ method, hostname, path, query, headers, body = '' }: HttpRequest): WireRequest {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new Error('the wire does not implement streamed request bodies');
  if (method === 'POST')
    return { headers, body: typeof body === 'string' ? body : new TextDecoder().decode(body) };
  const bytes = Buffer.from(body);
  const single = Object.entries(query ?? {}).map(([name, value]) => [name, String(value ?? '')] as const);
  const rest = { method, host: hostname, path, query: Object.fromEntries(single), headers, body: bytes };
  return { headers, body: '', rest };
}

/** `work`, or an error as soon as the client stops waiting. What the request set off takes effect all the same. */
function unlessGivenUp<T>(
  work: Promise<T>,
  { abortSignal, requestTimeout }: HttpHandlerOptions,
  clock: VirtualClock,
): Promise<T> {
  if (!abortSignal && !requestTimeout) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(aborted());
    const timer =
      requestTimeout &&
      clock.after(requestTimeout, () => reject(new NoAnswer(`no answer within ${requestTimeout} ms`)));
    const settle = () => {
      if (timer) timer.cancel();
      if (abortSignal instanceof AbortSignal) abortSignal.removeEventListener('abort', abort);
    };
    if (abortSignal instanceof AbortSignal) abortSignal.addEventListener('abort', abort, { once: true });
    work.finally(settle).then(resolve, reject);
  });
}

const aborted = () => Object.assign(new Error('Request aborted'), { name: 'AbortError' });

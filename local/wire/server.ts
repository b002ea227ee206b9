import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import type { WireAnswer, WireRequest } from './contract.ts';

export interface Listening {
  /** `http://127.0.0.1:<port>`, an SDK client's `endpoint`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export interface ListenSettings {
  /** 0 for a free one. */
  readonly port: number;
  readonly clock: VirtualClock;
  readonly answer: (request: WireRequest, accessKeyId: string) => Promise<WireAnswer>;
}

/** The largest request of the services served: DynamoDB's BatchWriteItem takes 16 MB. */
const greatestBodyBytes = 16 * 1024 * 1024;

/** Serves `answer` on the loopback interface only. Time stands still while a socket is read or written. */
export async function listen({ port, clock, answer }: ListenSettings): Promise<Listening> {
  const server = createServer((request, response) => {
    // The client has gone, or its answer is to be lost.
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
      clock.hold(
        () =>
          new Promise<void>(done => {
            if (request.socket.destroyed) return done();
            response.once('close', done);
            const date = new Date(clock.now()).toUTCString();
            response.writeHead(status, { date, ...headers }).end(body);
          }),
      );

    if (!isLoopbackHost(request.headers.host, request.socket.localPort)) {
      return say(403, 'This server answers only requests to localhost on its own port (Host header).\n');
    }
    const { method = '' } = request;
    if (!METHODS.has(method)) return say(405, `No AWS call served here is a ${method}.\n`);
    const body = await clock.hold(() => readBytes(request));
    if (body === undefined) return say(413, `A body may have ${greatestBodyBytes} bytes.\n`);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const answered = await answer(
      wireRequest(method, request.url ?? '/', headers, body),
      accessKeyIdOf(headers.authorization),
    );
    return say(answered.status, answered.body, answered.headers);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    close: () =>
      new Promise((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** A page in a browser may reach the loopback interface under its own name (DNS rebinding), never under these. */
export const isLoopbackHost = (host: string | undefined, port: number | undefined): boolean =>
  [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`].includes(host ?? '');

/** S3's calls have all of them, the other services' are POSTs. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'PUT', 'HEAD']);

function wireRequest(
  method: string,
  url: string,
  headers: WireRequest['headers'],
  body: Buffer,
): WireRequest {
  if (method === 'POST') return { headers, body: body.toString('utf8') };
  const { host, pathname, searchParams } = new URL(url, `http://${headers.host}`);
  const query = Object.fromEntries(searchParams);
  return { headers, body: '', rest: { method, host, path: pathname, query, headers, body } };
}

/** @returns undefined when the body is too large */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  return (await readBytes(request))?.toString('utf8');
}

async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > greatestBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** From `AWS4-HMAC-SHA256 Credential=AKIA.../20261130/eu-west-1/ec2/aws4_request, ...`; empty when unsigned. */
const accessKeyIdOf = (authorization: string | undefined): string =>
  /Credential=([^/,\s]+)\//.exec(authorization ?? '')?.[1] ?? '';

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isLoopbackHost, readBody } from '../wire/server.ts';

/** One request to a port of the simulator's. Header names are in lower case. */
export interface LoopbackRequest {
  readonly method: string;
  /** With its query string. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoopbackAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Loopback {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves plain HTTP on a free port of the loopback interface, to programs of this machine only (D48). Whoever asks has
 * to keep time still itself. What `answer` throws goes to `fail`, and its caller gets a 500.
 */
export async function serveLoopback(
  answer: (request: LoopbackRequest) => Promise<LoopbackAnswer>,
  fail: (error: unknown) => void,
): Promise<Loopback> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!request.socket.destroyed) fail(error);
      response.destroy();
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLoopbackHost(request.headers.host, request.socket.localPort)) {
      response.writeHead(403).end('Only requests to localhost on this port are answered (Host header).\n');
      return;
    }
    const body = (await readBody(request)) ?? '';
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const { method = 'GET', url: target = '/' } = request;
    const said = await answer({ method, target, headers, body });
    response.writeHead(said.status, said.headers).end(said.body);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

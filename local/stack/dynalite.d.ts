/** The part of dynalite (4.0.0, which ships no types) that this folder uses. */
declare module 'dynalite' {
  import type { EventEmitter } from 'node:events';

  /** What dynalite reads of a node:http request: its parts, then `data` and `end`. */
  export interface Request extends EventEmitter {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  }

  /** What dynalite calls of a node:http response. */
  export interface Response {
    statusCode: number;
    setHeader(name: string, value: string | number): void;
    end(body: string): void;
  }

  interface Server {
    emit(event: 'request', request: Request, response: Response): boolean;
  }

  /** A DynamoDB in memory behind an HTTP server that does not listen yet. */
  export default function dynalite(options: { readonly createTableMs: number }): Server;
}

/** The part of dynalite (4.0.0, which ships no types) that this folder uses. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** A DynamoDB in memory behind an HTTP server that does not listen yet. */
  export default function dynalite(options: { readonly createTableMs: number }): Server;
}

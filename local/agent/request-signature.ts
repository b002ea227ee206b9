import { createHash, createHmac, type Hash, type Hmac, timingSafeEqual } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { LoopbackRequest } from './loopback.ts';

/** Who signed a request, as its Authorization header claims. */
export interface Claim {
  readonly accessKeyId: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Undefined when the request is not signed with Signature Version 4. */
export function claimOf(authorization: string | undefined): Claim | undefined {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/\d{8}\/([^/,\s]+)\/([^/,\s]+)\/aws4_request, *SignedHeaders=([^,\s]+), *Signature=([0-9a-f]{64})$/.exec(
      authorization ?? '',
    );
  const [, accessKeyId, region, service, headers, signature] = parts ?? [];
  if (!accessKeyId || !region || !service || !headers || !signature) return undefined;
  return { accessKeyId, region, service, signedHeaders: headers.split(';'), signature };
}

/**
 * Was this very request signed with this key? Signs it once more, by the SDK's own signer, and compares.
 *
 * The age of the signature is not judged: a program's clock is the real one, the account's is virtual.
 */
export async function isSignedWith(
  key: SigningKey,
  claim: Claim,
  request: LoopbackRequest,
): Promise<boolean> {
  const { host } = request.headers;
  const date = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(request.headers['x-amz-date'] ?? '');
  // The signer takes this header, where there is one, for the hash of the body.
  const digest = request.headers['x-amz-content-sha256'];
  if (digest !== undefined && digest !== createHash('sha256').update(request.body).digest('hex'))
    return false;
  if (!host || !date || !['host', 'x-amz-date'].every(name => claim.signedHeaders.includes(name)))
    return false;
  const [, year, month, day, hours, minutes, seconds] = date;
  const signer = new SignatureV4({
    credentials: key,
    region: claim.region,
    service: claim.service,
    sha256: Sha256,
    applyChecksum: false,
  });
  const { pathname, searchParams } = new URL(request.target, `http://${host}`);
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: 'http:',
      hostname: host,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: Object.fromEntries(claim.signedHeaders.map(name => [name, request.headers[name] ?? ''])),
      body: request.body,
    },
    {
      signingDate: new Date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`),
      signableHeaders: new Set(claim.signedHeaders),
    },
  );
  const expected = claimOf(signed.headers.authorization)?.signature ?? '';
  return (
    expected.length === claim.signature.length &&
    timingSafeEqual(Buffer.from(expected), Buffer.from(claim.signature))
  );
}

/** Node's SHA-256 in the form that the signer asks for. */
class Sha256 {
  #hash: Hash | Hmac;
  readonly #secret: Uint8Array | undefined;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret);
    this.#hash = this.#begin();
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret ? createHmac('sha256', this.#secret) : createHash('sha256');
  }
}

function bytesOf(source: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof source === 'string') return Buffer.from(source);
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

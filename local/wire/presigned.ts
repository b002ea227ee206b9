import { type Caller, ServiceError, type WireRequest } from './contract.ts';

/** Whoever presents such a URL acts in the name of the one who signed it: here always a service. */
const SIGNER: Caller = { kind: 'service', name: 'presigned' };

export interface Presigned {
  readonly request: WireRequest;
  readonly caller: Caller;
}

/**
 * What a presigned URL asks for, without its signature, which nobody checks here.
 *
 * @returns undefined when the request is signed in its headers
 * @throws ServiceError AccessDenied when the URL has expired
 */
export function presigned(request: WireRequest, now: number): Presigned | undefined {
  const { rest } = request;
  const {
    'X-Amz-Signature': signature,
    'X-Amz-Date': date = '',
    'X-Amz-Expires': seconds,
  } = rest?.query ?? {};
  if (!rest || signature === undefined) return undefined;
  if (now > signedAt(date) + Number(seconds) * 1000)
    throw new ServiceError('AccessDenied', 'Request has expired', 403);
  const query = Object.fromEntries(Object.entries(rest.query).filter(([name]) => !name.startsWith('X-Amz-')));
  return { request: { ...request, rest: { ...rest, query } }, caller: SIGNER };
}

/** `20260813T121859Z`, in milliseconds since the epoch. */
const signedAt = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'));

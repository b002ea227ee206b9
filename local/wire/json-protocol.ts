import type { WireAnswer } from './contract.ts';
import type { Faults } from './faults.ts';
import { parseJson, readJsonInput, toJson } from './json-values.ts';
import type { Protocol } from './protocol.ts';

/** AWS JSON 1.0 and 1.1. */
export function jsonProtocol(faults: Faults, version: '1.0' | '1.1'): Protocol {
  const answer = (
    status: number,
    requestId: string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): WireAnswer => ({
    status,
    headers: {
      'content-type': `application/x-amz-json-${version}`,
      'x-amzn-requestid': requestId,
      ...headers,
    },
    body: JSON.stringify(body),
  });

  return {
    readInput: ({ input }, { body }) => readJsonInput(input, parseJson(body)),

    answer: ({ output: shape }, output, requestId) => answer(200, requestId, toJson(shape, output)),

    fault(error, request, requestId) {
      const { wireCode, name, type, message, status, shape, members } = faults.of(error);
      const body = { __type: name, message, ...(shape ? toJson(shape, members) : {}) };
      // Services that used to speak AWS Query (CloudWatch) also give that protocol's code, to clients that ask for it.
      const asksForQueryCode = request.headers['x-amzn-query-mode'] === 'true';
      return answer(
        status,
        requestId,
        body,
        asksForQueryCode ? { 'x-amzn-query-error': `${wireCode};${type}` } : {},
      );
    },

    invalidInputCodes: {
      unknown: 'ValidationException',
      missing: 'ValidationException',
      malformed: 'SerializationException',
    },
    unknownActionCode: 'UnknownOperationException',
  };
}

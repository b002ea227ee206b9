import type { ServiceError, WireAnswer } from './contract.ts';
import type { Faults } from './faults.ts';
import type { Protocol } from './protocol.ts';
import { readQueryInput } from './query-input.ts';
import { noMembers, type OperationShapes } from './shapes.ts';
import { element, escapeXml, toXml } from './xml.ts';

/** EC2 Query. */
export const ec2QueryProtocol = (faults: Faults): Protocol => ({
  readInput: ({ input }, { body }) => readQueryInput(input, parametersOf(body), true),

  answer: ({ action, output: shape }, output, requestId) =>
    xmlAnswer(
      200,
      requestId,
      element(`${action}Response`, element('requestId', requestId) + toXml(shape, output)),
    ),

  fault(error, _request, requestId) {
    const { wireCode, message, status } = faults.of(error);
    const inner = element('Code', escapeXml(wireCode)) + element('Message', escapeXml(message));
    const errors = element('Errors', element('Error', inner));
    return xmlAnswer(status, requestId, element('Response', errors + element('RequestID', requestId)));
  },

  invalidInputCodes: {
    unknown: 'UnknownParameter',
    missing: 'MissingParameter',
    malformed: 'InvalidParameterValue',
  },
  unknownActionCode: 'InvalidAction',
});

/** AWS Query: Elastic Load Balancing and Auto Scaling. */
export const awsQueryProtocol = (faults: Faults): Protocol => ({
  readInput: ({ input }, { body }) => readQueryInput(input, parametersOf(body), false),

  answer({ action, output: shape }: OperationShapes, output: object, requestId: string) {
    // Also around a result without members: botocore looks for it.
    const result = shape === noMembers ? '' : element(`${action}Result`, toXml(shape, output));
    const metadata = element('ResponseMetadata', element('RequestId', requestId));
    return xmlAnswer(200, requestId, element(`${action}Response`, result + metadata));
  },

  fault(error: ServiceError, _request, requestId: string) {
    const { type, wireCode, message, status, shape, members } = faults.of(error);
    const inner =
      element('Type', type) +
      element('Code', escapeXml(wireCode)) +
      element('Message', escapeXml(message)) +
      (shape ? toXml(shape, members) : '');
    const body = element('ErrorResponse', element('Error', inner) + element('RequestId', requestId));
    return xmlAnswer(status, requestId, body);
  },

  invalidInputCodes: {
    unknown: 'ValidationError',
    missing: 'ValidationError',
    malformed: 'ValidationError',
  },
  unknownActionCode: 'InvalidAction',
});

/** The action and the version that a form asks for; undefined when the body is no such form. */
export function readFormHeader(
  body: string,
): { readonly action: string; readonly version: string } | undefined {
  const action = /(?:^|&)Action=([^&]*)/.exec(body)?.[1];
  const version = /(?:^|&)Version=([^&]*)/.exec(body)?.[1];
  return action === undefined || version === undefined ? undefined : { action, version };
}

function* parametersOf(body: string): Iterable<readonly [string, string]> {
  for (const parameter of new URLSearchParams(body)) {
    if (parameter[0] !== 'Action' && parameter[0] !== 'Version') yield parameter;
  }
}

const xmlAnswer = (status: number, requestId: string, body: string): WireAnswer => ({
  status,
  headers: { 'content-type': 'text/xml;charset=UTF-8', 'x-amzn-requestid': requestId },
  body,
});
